// Moves of the focus and ranges of a selection, by index.

export const toRange = (anchor: number, index: number): [from: number, to: number] =>
  anchor < index ? [anchor, index] : [index, anchor];

export interface Grid {
  readonly count: number;
  readonly columns: number;
  /** Rows in view. */
  readonly pageRows: number;
  readonly isRightToLeft: boolean;
}

/** Where a key moves the focus to; null if the key does not move it. */
export function moveByKey(key: string, from: number, grid: Grid): number | null {
  const { count, columns, pageRows, isRightToLeft } = grid;
  if (count === 0) return null;
  const forward = isRightToLeft ? -1 : 1;
  const isTable = columns === 1;
  const steps: Record<string, number | undefined> = {
    ArrowDown: columns,
    ArrowUp: -columns,
    ArrowRight: isTable ? undefined : forward,
    ArrowLeft: isTable ? undefined : -forward,
    PageDown: columns * pageRows,
    PageUp: -columns * pageRows,
    Home: -from,
    End: count - 1 - from,
  };
  const step = steps[key];
  if (step === undefined) return null;
  const to = from + step;
  if (to >= 0 && to < count) return to;
  // Beyond the last row: to the last entry only if it is in another row.
  if (key === 'ArrowDown')
    return Math.floor(from / columns) < Math.floor((count - 1) / columns) ? count - 1 : from;
  if (key === 'PageDown') return count - 1;
  return key === 'PageUp' ? 0 : from;
}
