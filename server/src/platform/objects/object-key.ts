// What a key and a range may look like, in every store alike. Both are made by this service, never by its clients,
// so one that breaks the rule is a bug: it throws a plain Error.

/** With its slashes replaced, and what sets temporary files apart behind it, a key must fit into a name of 255 bytes. */
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
