// The headers that both dialects of the upload URL share, and how their values are read.
import type { IncomingHttpHeaders } from 'node:http';
import type { Call } from '../../contract/call.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';

/** The prefix of every route, as Location needs it. */
const urlPath = '/api/v1/uploads';

export const toUploadUrl = ({ origin }: Pick<Call, 'origin'>, token: string): string =>
  `${origin}${urlPath}/${token}`;

/** What pages of other origins may read besides the headers of every response. */
const exposed = [
  'Location',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Expires',
  'Upload-Complete',
  'Upload-Incomplete',
  'Upload-Limit',
  'Upload-Draft-Interop-Version',
  'Pakhus-File-Id',
];

export const exposeHeaders = (call: Call): void => call.exposeHeaders(exposed);

/**
 * Reads the headers of a request to an upload URL. Any page may read why they are refused: that says nothing of the upload,
 * which has not been looked up yet.
 */
export function readForAnyOrigin<Result>(call: Call, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    call.allowAnyOrigin();
    throw error;
  }
}

/** A header that may be sent once. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

export const badHeader = (path: string, message: string, code = 'header') =>
  invalid(400, [{ path, message, code }]);

/** A length or an offset. Undefined if it is absent. */
export function readBytes(headers: IncomingHttpHeaders, name: string): number | undefined {
  const text = readHeader(headers, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badHeader(name, 'must be a whole number of bytes', 'type');
  return Number(text);
}

export function requireBytes(headers: IncomingHttpHeaders, name: string): number {
  const bytes = readBytes(headers, name);
  if (bytes === undefined) throw badHeader(name, 'is required', 'required');
  return bytes;
}

/** The length of the body; null for chunked encoding. */
export function bodyLength(headers: IncomingHttpHeaders): number | null {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : null;
}

export const mediaTypeOf = (headers: IncomingHttpHeaders): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

export const wrongMediaType = (wanted: string) =>
  new PakhusError('VALIDATION_ERROR', `The body has the wrong content type: send ${wanted}`, {
    status: 415,
    details: { issues: [{ path: 'content-type', message: `must be ${wanted}`, code: 'content_type' }] },
  });

/** These protocols say by 413 that a file is too large. */
export async function tooLargeAs413<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PakhusError) || error.code !== 'FILE_TOO_LARGE') throw error;
    throw new PakhusError(error.code, error.message, { status: 413, details: error.details });
  }
}
