// Which rows of a long list are on the screen.

export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
}

export interface RowWindow {
  /** The first row to render. */
  readonly first: number;
  /** The row after the last one to render. */
  readonly end: number;
}

/** Rows come and go in steps of this many, so that most frames of a scroll render nothing. */
const step = 4;

export function findRows({ scrollTop, height }: Viewport, rowHeight: number, rows: number): RowWindow {
  const top = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const bottom = Math.ceil((Math.max(0, scrollTop) + height) / rowHeight);
  const first = Math.floor(Math.max(0, top - step) / step) * step;
  const end = Math.ceil((bottom + step) / step) * step;
  return { first: Math.min(first, Math.max(0, rows - 1)), end: Math.min(end, rows) };
}

/** Where to scroll so that a row is in view; null if it is. */
export function scrollTopFor({ scrollTop, height }: Viewport, rowHeight: number, row: number): number | null {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  const bottom = top + rowHeight;
  return bottom > scrollTop + height ? bottom - height : null;
}
