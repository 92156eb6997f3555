// The known word that was probably meant.

/** Undefined if no word is near enough to be a typing error. */
export function findNearest(typed: string, known: readonly string[]): string | undefined {
  const near = known
    .map((word) => ({ word, typos: countTypos(typed, word) }))
    .filter(({ word, typos }) => typos <= Math.max(1, Math.floor(word.length / 3)))
    .sort((a, b) => a.typos - b.typos);
  return near[0]?.word;
}

/** Edit distance, counting a swap of neighbouring letters as one edit. */
function countTypos(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const substitution = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          substitution,
          isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
