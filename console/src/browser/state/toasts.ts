// Short messages with an optional action, and what a screen reader is told.
import { type ReadonlySignal, signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** For the operator, as in an error. */
  readonly note?: string | undefined;
  readonly isError?: boolean;
  readonly action?: { readonly label: string; readonly run: () => void };
}

export interface Toasts {
  readonly shown: ReadonlySignal<readonly Toast[]>;
  /** Read out politely. */
  readonly announced: ReadonlySignal<string>;
  /** Until it is dismissed, or for `ms`. Returns what removes it. */
  show(toast: Omit<Toast, 'id'>, ms?: number): () => void;
  announce(text: string): void;
  dismiss(id: number): void;
  dispose(): void;
}

const shownMax = 4;

export function createToasts(): Toasts {
  const shown = signal<readonly Toast[]>([]);
  const announced = signal('');
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let lastId = 0;
  const dismiss = (id: number) => {
    shown.value = shown.peek().filter((toast) => toast.id !== id);
  };
  return {
    shown,
    announced,
    dismiss,
    show(toast, ms) {
      lastId += 1;
      const id = lastId;
      shown.value = [...shown.peek(), { ...toast, id }].slice(-shownMax);
      announced.value = toast.text;
      if (ms !== undefined) {
        const timer = setTimeout(() => {
          timers.delete(timer);
          dismiss(id);
        }, ms);
        timers.add(timer);
      }
      return () => dismiss(id);
    },
    announce: (text) => {
      announced.value = text;
    },
    dispose: () => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
