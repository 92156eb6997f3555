// What is typed into a search field, and follows into the address a moment later.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { setQuery } from './router.tsx';

const typingPauseMs = 250;

/** `q` is what the address says now. */
export function useTypedQuery(q: string): Signal<string> {
  const typed = useSignal(q);
  useEffect(() => {
    if (typed.value === q) return;
    const timer = setTimeout(() => setQuery({ q: typed.value }, { replace: true }), typingPauseMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  // Before the field is painted: later it would overwrite what has been typed since.
  useLayoutEffect(() => {
    typed.value = q;
  }, [q]);
  return typed;
}
