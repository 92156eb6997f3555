// Short messages that leave by themselves. One with an action stays longer.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: ToastAction | undefined;
}

export interface ToastAction {
  readonly label: string;
  readonly run: () => unknown;
}

const shownMs = 5_000;
const shownWithActionMs = 10_000;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

export function showToast(text: string, action?: ToastAction): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-2), { id, text, action }];
  setTimeout(() => remove(id), action ? shownWithActionMs : shownMs);
}

const remove = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

export function Toasts() {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (frame.current) raise(frame.current, toasts.value.length > 0);
  }, [toasts.value]);
  return (
    <div role="status">
      <div ref={frame} class="toasts" popover="manual">
        {toasts.value.map(({ id, text, action }) => (
          <div class="toast" key={id}>
            <span>{text}</span>
            {action && (
              <button
                type="button"
                onClick={() => {
                  remove(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Shown anew, so that it lies above a dialog that was opened since. */
function raise(frame: HTMLElement, isWanted: boolean): void {
  if (frame.matches(':popover-open')) frame.hidePopover();
  if (isWanted) frame.showPopover();
}
