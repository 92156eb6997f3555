// Uploads in which the test controls every byte of the form: order, names and types of its parts, boundary and ending.
import type { Api, Reply } from './api.ts';

export interface Part {
  readonly name: string;
  readonly value: string | Buffer;
  readonly filename?: string;
  readonly contentType?: string;
  /** The complete head of the part; replaces the fields above. */
  readonly head?: string | Buffer;
}

export interface FormOptions {
  readonly boundary?: string;
  /** False omits the last boundary. */
  readonly closed?: boolean;
}

export interface UploadOptions {
  readonly name?: string;
  readonly type?: string;
  readonly fileField?: string;
  /** Sent as the part `meta`, in JSON. */
  readonly meta?: unknown;
  /** Single fields. */
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
  /** Sends `meta` and the fields after the file instead of before it. */
  readonly metaAfterFile?: boolean;
  readonly headers?: Record<string, string>;
}

export const defaultBoundary = '----pakhus-test-boundary';

export const contentTypeOf = (boundary = defaultBoundary): string =>
  `multipart/form-data; boundary=${boundary}`;

export function formOf(
  parts: readonly Part[],
  { boundary = defaultBoundary, closed = true }: FormOptions = {},
): Buffer {
  const pieces: (string | Buffer)[] = parts.flatMap((part) => [
    `--${boundary}\r\n`,
    part.head ?? headOf(part),
    '\r\n\r\n',
    part.value,
    '\r\n',
  ]);
  if (closed) pieces.push(`--${boundary}--\r\n`);
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

function headOf({ name, filename, contentType }: Part): string {
  const disposition = `Content-Disposition: form-data; name="${name}"`;
  const file = filename === undefined ? '' : `; filename="${filename}"`;
  return `${disposition}${file}${contentType === undefined ? '' : `\r\nContent-Type: ${contentType}`}`;
}

/** `userPath` is like /project/users/{userId} or /project/users/ext/{externalId}. */
export function upload(
  api: Api,
  credential: string,
  userPath: string,
  bytes: Buffer | string,
  options: UploadOptions = {},
): Promise<Reply> {
  return postForm(api, credential, userPath, partsOf(bytes, options), options.headers);
}

export function partsOf(bytes: Buffer | string, options: UploadOptions = {}): Part[] {
  const { meta, fields = {}, metaAfterFile = false, fileField = 'file' } = options;
  const file = {
    name: fileField,
    filename: options.name ?? 'file.bin',
    contentType: options.type ?? 'application/octet-stream',
    value: bytes,
  };
  const others = [
    ...(meta === undefined ? [] : [{ name: 'meta', value: JSON.stringify(meta) }]),
    ...Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value) => ({ name, value }))),
  ];
  return metaAfterFile ? [file, ...others] : [...others, file];
}

export function postForm(
  api: Api,
  credential: string,
  userPath: string,
  parts: readonly Part[],
  headers: Record<string, string> = {},
): Promise<Reply> {
  return api.call('POST', `${userPath}/files`, {
    as: credential,
    raw: formOf(parts),
    headers: { 'content-type': contentTypeOf(), ...headers },
  });
}
