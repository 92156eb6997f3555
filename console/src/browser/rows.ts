// Renders only the rows in view: a scroll costs a render when other rows come into view, else nothing.
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { findRows, type RowWindow, scrollTopFor } from './virtual.ts';

export interface Rows extends RowWindow {
  /** Of the scrolled element; 0 before it is laid out. */
  readonly width: number;
  readonly height: number;
  scrollTo(row: number): void;
}

/** `layout` says for a width how high rows are and how many there are. */
export function useRows(
  scroller: RefObject<HTMLElement | null>,
  layout: (width: number) => { readonly rowHeight: number; readonly rows: number },
): Rows {
  const renders = useSignal(0);
  const box = useRef({ scrollTop: 0, height: 0, width: 0 });
  const shown = useRef<RowWindow>({ first: 0, end: 0 });
  const current = useRef(layout);
  current.current = layout;
  const find = () => {
    const { rowHeight, rows } = current.current(box.current.width);
    return findRows(box.current, rowHeight, rows);
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const onScroll = () => {
      box.current.scrollTop = element.scrollTop;
      const { first, end } = find();
      if (first !== shown.current.first || end !== shown.current.end) renders.value += 1;
    };
    const observer = new ResizeObserver(() => {
      box.current = {
        scrollTop: element.scrollTop,
        height: element.clientHeight,
        width: element.clientWidth,
      };
      renders.value += 1;
    });
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, []);
  void renders.value;
  shown.current = find();
  return {
    ...shown.current,
    width: box.current.width,
    height: box.current.height,
    scrollTo(row) {
      const { rowHeight } = current.current(box.current.width);
      const top = scrollTopFor(box.current, rowHeight, row);
      if (top !== null) scroller.current?.scrollTo({ top });
    },
  };
}
