// The version of a file's row, as its ETag: a digest of everything that the row shows.
import { hash } from 'node:crypto';
import { PakhusError } from '../../kernel/error.ts';
import { allowsVersion } from '../../kernel/etag.ts';

const lastField = '"compression":';

/** `view` is the stored JSON of the row, with or without the compression job behind it, which is no part of the row. */
export function versionOf(view: string): string {
  const row = view.slice(0, view.lastIndexOf(lastField) + lastField.length);
  return `"${hash('sha256', row, 'base64url').slice(0, 22)}"`;
}

export function refuseOtherVersion(ifMatch: string, version: string): void {
  if (allowsVersion(ifMatch, version)) return;
  throw new PakhusError(
    'PRECONDITION_FAILED',
    'The file has changed since you read it: read it again, and send its new ETag as If-Match',
    { details: { etag: version } },
  );
}
