// Rules for keys and ranges in all stores. Both come from this service, never from clients, so a violation is a bug and
// throws a plain Error.

/** A key and the suffix of temporary files must fit into a file name of 255 bytes. */
export const keyCharsMax = 220;

const keyForm = /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;
const dotSegment = /(?:^|\/)\.{1,2}(?:\/|$)/;

export function isKey(key: string): boolean {
  return key.length <= keyCharsMax && keyForm.test(key) && !dotSegment.test(key);
}

export function assertKey(key: string): void {
  if (!isKey(key)) throw new Error(`Not an object key: ${JSON.stringify(key.slice(0, keyCharsMax))}`);
}

export function assertRange({ start, end }: { start: number; end: number }): void {
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return;
  throw new Error(`Not a byte range: ${start}-${end}`);
}
