// Replies of S3 that are errors, and replies that do not come from S3 at all.
import { errors } from 'undici';
import { PakhusError } from '../../../kernel/error.ts';
import { isDocument, textOf } from './s3-xml.ts';

export type S3Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface S3Reply {
  readonly status: number;
  readonly headers: S3Headers;
  /** Empty while the body is still to come. */
  readonly text: string;
}

/** An error reply, or a reply that is not from S3. Any other error means that there was no reply. */
export class S3Fault extends Error {
  override readonly name = 'S3Fault';
  readonly status: number;
  readonly code: string;
  readonly headers: S3Headers;

  constructor(status: number, code: string, headers: S3Headers, message: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export function toFault({ status, headers, text }: S3Reply): S3Fault {
  if (isPage(headers) || (text.trim() !== '' && !isDocument(text, 'Error')))
    return foreignFault(status, headers);
  const code = textOf(text, 'Code') ?? '';
  const message = `S3 answered ${status} ${code} ${textOf(text, 'Message') ?? ''}`.trimEnd();
  // The server may send 200 before it fails.
  return new S3Fault(status < 300 ? 500 : status, code, headers, message);
}

/** Something between us and the store replied in its place. */
export const foreignFault = (status: number, headers: S3Headers): S3Fault =>
  new S3Fault(
    502,
    '',
    headers,
    `something that is not S3 answered ${status} ${headerOf(headers, 'content-type') ?? 'without a type'}`,
  );

const retryableStatus = new Set([408, 429, 500, 502, 503, 504]);
const retryableCode = new Set([
  'BadDigest',
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'SlowDown',
]);
const idleCode = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const silentCode = 'STORE_SILENT';
const finalCode = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED', silentCode]);

/** The store answers no request at all. */
export const silentStore = (cause: unknown): Error =>
  Object.assign(new Error('The store answers nobody', { cause }), { code: silentCode });

export const isIdleTimeout = (error: unknown): boolean => idleCode.has(codeOf(error));

export function isRetryable(error: unknown): boolean {
  if (error instanceof S3Fault) return retryableStatus.has(error.status) || retryableCode.has(error.code);
  return isStoreFault(error) && !finalCode.has(codeOf(error));
}

/** True for error replies and failed connections; false for our own bugs. */
export function isStoreFault(error: unknown): boolean {
  if (error instanceof S3Fault) return true;
  if (error instanceof errors.HTTPParserError) return true;
  return !(error instanceof PakhusError) && codeOf(error) !== '' && codeOf(error) !== 'UND_ERR_INVALID_ARG';
}

/** A missing bucket is not a missing object: it must not look like an empty store. */
export function isAbsent(error: unknown): boolean {
  return error instanceof S3Fault && error.status === 404 && error.code !== 'NoSuchBucket';
}

/** A page for people, as proxies send it: the only text that S3 sends is XML. */
export function isPage(headers: S3Headers): boolean {
  const type = headerOf(headers, 'content-type') ?? '';
  return type.startsWith('text/') && !type.startsWith('text/xml');
}

export function headerOf(headers: S3Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
