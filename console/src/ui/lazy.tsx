// A part of a screen whose code is loaded when it is shown first.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { attempt } from './attempt.ts';

export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<{ readonly Part: ComponentType<Props> } | null>(null);
  return function Lazy(props: Props) {
    useEffect(() => {
      if (loaded.peek()) return;
      void attempt(async () => {
        loaded.value = { Part: await load() };
      });
    }, []);
    const Part = loaded.value?.Part;
    return Part ? <Part {...props} /> : null;
  };
}
