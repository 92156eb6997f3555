// tus 1.0: core, creation, creation-with-upload, creation-defer-length, expiration, termination and checksum.
// See https://tus.io/protocols/resumable-upload
import type { IncomingHttpHeaders } from 'node:http';
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Settings } from '../../contract/settings.ts';
import type { Subject } from '../../contract/subject.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { ChecksumAlgorithm } from '../../platform/hashing/digest.ts';
import { beginUpload } from './uploads.create.ts';
import {
  badHeader,
  bodyLength,
  exposeHeaders,
  mediaTypeOf,
  readBytes,
  readForAnyOrigin,
  readHeader,
  requireBytes,
  tooLargeAs413,
  toUploadUrl,
  wrongMediaType,
} from './uploads.headers.ts';
import { parseMetadata, toWishes } from './uploads.metadata.ts';
import { type Checksum, type Incoming, tooManyBytes } from './uploads.receive.ts';
import { addBytes } from './uploads.service.ts';
import type { UploadRow } from './uploads.sql.ts';

const version = '1.0.0';
const bodyType = 'application/offset+octet-stream';
const digestBytes: Readonly<Record<ChecksumAlgorithm, number>> = { sha256: 32, sha1: 20, md5: 16 };
const algorithms = Object.keys(digestBytes) as ChecksumAlgorithm[];
const extensions = 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum';

export const isTus = (headers: IncomingHttpHeaders): boolean => headers['tus-resumable'] !== undefined;

/** The answer to OPTIONS. */
export const tusOptions = ({ MAX_UPLOAD_BYTES }: Settings): Readonly<Record<string, string>> => ({
  'tus-resumable': version,
  'tus-version': version,
  'tus-extension': extensions,
  'tus-max-size': String(MAX_UPLOAD_BYTES),
  'tus-checksum-algorithm': algorithms.join(),
});

/** Call first, so that refusals carry the headers as well. */
export function startTus(call: Call): void {
  exposeHeaders(call);
  call.setHeader('tus-resumable', version);
  if (readHeader(call.headers, 'tus-resumable') === version) return;
  call.setHeader('tus-version', version);
  throw new PakhusError(
    'PRECONDITION_FAILED',
    `This version of tus is not supported: send Tus-Resumable: ${version}`,
    {
      details: { versions: [version] },
    },
  );
}

export async function createByTus(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  call: Call,
  audit: AuditStamp,
): Promise<void> {
  startTus(call);
  const { headers, raw } = call;
  const size = readLength(headers);
  const metadata = parseMetadata(readHeader(headers, 'upload-metadata'));
  const hasBody = mediaTypeOf(headers) === bodyType && bodyLength(headers) !== 0;
  const length = hasBody ? bodyLength(headers) : 0;
  if (size !== null && (length ?? 0) > size) throw tooManyBytes(size);
  const checksum = hasBody ? readChecksum(headers) : null;
  await tooLargeAs413(async () => {
    const { row, token } = await beginUpload(deps, actor, user, toWishes(metadata, size), audit);
    call.setHeader('location', toUploadUrl(call, token ?? ''));
    const name = { projectId: row.project_id, id: row.id };
    const incoming: Incoming = { raw, length, size: null, isEnd: false, checksum };
    const isNews = hasBody || size === 0;
    sendState(call, isNews ? await addBytes(deps, name, 0, incoming, call) : row, hasBody);
  });
}

export async function appendByTus(deps: Deps, tokenHash: Buffer, call: Call): Promise<void> {
  const { at, incoming } = readForAnyOrigin(call, () => readAppend(call));
  await tooLargeAs413(async () =>
    sendState(call, await addBytes(deps, { tokenHash }, at, incoming, call), true),
  );
}

function readAppend(call: Call): { readonly at: number; readonly incoming: Incoming } {
  startTus(call);
  const { headers, raw } = call;
  if (mediaTypeOf(headers) !== bodyType) throw wrongMediaType(bodyType);
  const at = requireBytes(headers, 'upload-offset');
  const size = readBytes(headers, 'upload-length') ?? null;
  const checksum = readChecksum(headers);
  return { at, incoming: { raw, length: bodyLength(headers), size, isEnd: false, checksum } };
}

/** The headers of an answer to HEAD. */
export function describeByTus(call: Call, row: UploadRow): void {
  sendState(call, row, true);
  if (row.size === null) call.setHeader('upload-defer-length', 1);
  else call.setHeader('upload-length', row.size);
  const pair = (name: string, value: string) => `${name} ${Buffer.from(value).toString('base64')}`;
  call.setHeader('upload-metadata', `${pair('filename', row.name)},${pair('filetype', row.mime_type)}`);
}

function sendState(call: Call, row: UploadRow, withOffset: boolean): void {
  if (withOffset)
    call.setHeader('upload-offset', row.status === 'completed' ? (row.size ?? 0) : row.received);
  if (row.status === 'uploading') call.setHeader('upload-expires', new Date(row.expires_at).toUTCString());
  if (row.file_id !== null) call.setHeader('pakhus-file-id', row.file_id);
}

function readLength(headers: IncomingHttpHeaders): number | null {
  const size = readBytes(headers, 'upload-length');
  const deferred = readHeader(headers, 'upload-defer-length');
  if (deferred !== undefined && deferred !== '1') throw badHeader('upload-defer-length', 'must be 1', 'enum');
  if ((size === undefined) === (deferred === undefined))
    throw badHeader('upload-length', 'is required, or Upload-Defer-Length: 1 instead of it', 'required');
  return size ?? null;
}

function readChecksum(headers: IncomingHttpHeaders): Checksum | null {
  const text = readHeader(headers, 'upload-checksum');
  if (text === undefined) return null;
  const [, name = '', encoded = ''] = /^(\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? [];
  const algorithm = algorithms.find((known) => known === name);
  if (!algorithm) {
    const message = `must begin with one of ${algorithms.join(', ')} and a space`;
    throw badHeader('upload-checksum', message, 'enum');
  }
  const digest = Buffer.from(encoded, 'base64');
  if (digest.length !== digestBytes[algorithm])
    throw badHeader('upload-checksum', `must have ${digestBytes[algorithm]} bytes in base64`, 'length');
  return { algorithm, digest };
}
