// How many entries stand in a row and how high it is, by the width that there is.
import type { View } from './state/model.ts';

const narrowBelow = 600;
const tileWidthMin = 148;
const tileHeight = 196;

export const isNarrow = (width: number): boolean => width > 0 && width < narrowBelow;

export function layoutFor(view: View, width: number): { columns: number; rowHeight: number } {
  if (view === 'list') return { columns: 1, rowHeight: isNarrow(width) ? 60 : 48 };
  return { columns: Math.max(2, Math.floor(width / tileWidthMin)), rowHeight: tileHeight };
}
