// Byte sequences in several buffers.

/** Concatenates; a single buffer is not copied. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const only = pieces.length === 1 ? pieces[0] : undefined;
  return only ?? Buffer.concat(pieces);
}

export const lengthOf = (pieces: readonly Buffer[]): number =>
  pieces.reduce((length, piece) => length + piece.length, 0);
