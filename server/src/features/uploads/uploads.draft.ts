// Resumable uploads as the IETF's HTTP working group drafts them (draft-ietf-httpbis-resumable-upload), which iOS and macOS
// speak. The interop versions 3, 5, 6 and 8 differ in a few headers; a client that names none is taken for the newest.
import type { IncomingHttpHeaders } from 'node:http';
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Settings } from '../../contract/settings.ts';
import type { Subject } from '../../contract/subject.ts';
import { parseParameters } from '../../kernel/form/part-head.ts';
import type { FormFields } from '../../platform/forms/form-reader.ts';
import { largestFile } from '../files/files.checks.ts';
import { UploadFailed } from './uploads.complete.ts';
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
import type { Incoming } from './uploads.receive.ts';
import { addBytes } from './uploads.service.ts';
import type { UploadName, UploadRow } from './uploads.sql.ts';

const versions = [3, 5, 6, 8] as const;
const newest = 8;
/** From this version on, PATCH has a media type of its own. */
const typedSince = 6;
/** Before this version, PATCH is answered like a creation. */
const emptyAnswerSince = 8;
const partialType = 'application/partial-upload';

export const isDraft = (headers: IncomingHttpHeaders): boolean =>
  headers['upload-complete'] !== undefined || headers['upload-incomplete'] !== undefined;

/** The answer to OPTIONS. */
export const draftOptions = ({ MAX_UPLOAD_BYTES }: Settings): Readonly<Record<string, string>> => ({
  'upload-limit': toLimit(MAX_UPLOAD_BYTES),
});

/** Call first, so that refusals carry the headers as well. Returns the version that the client speaks. */
export function startDraft(call: Call): number {
  exposeHeaders(call);
  const version = readBytes(call.headers, 'upload-draft-interop-version') ?? newest;
  if (!versions.some((known) => known === version))
    throw badHeader('upload-draft-interop-version', `must be one of ${versions.join(', ')}`, 'enum');
  call.setHeader('upload-draft-interop-version', version);
  return version;
}

export async function createByDraft(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  call: Call,
  audit: AuditStamp,
): Promise<void> {
  const version = startDraft(call);
  const { headers, raw } = call;
  const isEnd = readComplete(headers, version);
  const length = bodyLength(headers);
  const size = readSize(headers, isEnd, length);
  const limit = toLimit(largestFile(deps, user.plan?.maxFileSize ?? null));
  call.setHeader('upload-limit', limit);
  await tooLargeAs413(async () => {
    const wishes = toWishes(describeFile(headers), size);
    const { row, token } = await beginUpload(deps, actor, user, wishes, audit);
    const url = toUploadUrl(call, token ?? '');
    call.setHeader('location', url);
    // Never to a client that has not said which version it speaks.
    if (deps.settings.UPLOAD_104 && headers['upload-draft-interop-version'] !== undefined)
      call.sendInterim(104, 'Upload Resumption Supported', {
        location: url,
        'upload-limit': limit,
        'upload-draft-interop-version': String(version),
      });
    const name = { projectId: row.project_id, id: row.id };
    const incoming: Incoming = { raw, length, size: null, isEnd, checksum: null };
    const isNews = length !== 0 || isEnd;
    sendState(call, isNews ? await addAll(deps, name, 0, incoming, call, version) : row, version);
  });
}

export async function appendByDraft(deps: Deps, tokenHash: Buffer, call: Call): Promise<void> {
  const { version, at, incoming } = readForAnyOrigin(call, () => readAppend(call));
  // For refusals; a wrong offset must say so.
  sendComplete(call, version, false);
  await tooLargeAs413(async () =>
    sendState(call, await addAll(deps, { tokenHash }, at, incoming, call, version), version),
  );
  if (version < emptyAnswerSince) call.setStatus(201);
}

interface DraftAppend {
  readonly version: number;
  readonly at: number;
  readonly incoming: Incoming;
}

function readAppend(call: Call): DraftAppend {
  const version = startDraft(call);
  const { headers, raw } = call;
  if (version >= typedSince && mediaTypeOf(headers) !== partialType) throw wrongMediaType(partialType);
  const at = requireBytes(headers, 'upload-offset');
  const isEnd = readComplete(headers, version);
  const length = bodyLength(headers);
  const rest = isEnd && length !== null ? at + length : null;
  const size = readBytes(headers, 'upload-length') ?? rest;
  return { version, at, incoming: { raw, length, size, isEnd, checksum: null } };
}

/** A refusal of the whole file is its final answer, which the client must be able to tell from one of this request. */
async function addAll(
  deps: Deps,
  name: UploadName,
  at: number,
  incoming: Incoming,
  call: Call,
  version: number,
): Promise<UploadRow> {
  try {
    return await addBytes(deps, name, at, incoming, call);
  } catch (error) {
    if (error instanceof UploadFailed) sendComplete(call, version, true);
    throw error;
  }
}

/** The headers of an answer to HEAD. */
export function describeByDraft(call: Call, row: UploadRow, version: number, fileMax: number): void {
  sendState(call, row, version);
  if (row.size !== null) call.setHeader('upload-length', row.size);
  call.setHeader('upload-limit', toLimit(fileMax));
}

const toLimit = (fileMax: number): string => `min-size=0, max-size=${fileMax}`;

function sendState(call: Call, row: UploadRow, version: number): void {
  const isComplete = row.status === 'completed';
  call.setHeader('upload-offset', isComplete ? (row.size ?? 0) : row.received);
  sendComplete(call, version, isComplete);
  if (row.file_id !== null) call.setHeader('pakhus-file-id', row.file_id);
}

function sendComplete(call: Call, version: number, isComplete: boolean): void {
  if (version === 3) call.setHeader('upload-incomplete', isComplete ? '?0' : '?1');
  else call.setHeader('upload-complete', isComplete ? '?1' : '?0');
}

/** Whether the file ends with this body. Version 3 says the opposite. */
function readComplete(headers: IncomingHttpHeaders, version: number): boolean {
  const name = version === 3 ? 'upload-incomplete' : 'upload-complete';
  const text = readHeader(headers, name)?.trim();
  if (text !== '?0' && text !== '?1') throw badHeader(name, 'is required: ?0 or ?1', 'enum');
  return (text === '?1') !== (version === 3);
}

/** Null if the client does not know it yet. */
function readSize(headers: IncomingHttpHeaders, isEnd: boolean, length: number | null): number | null {
  const said = readBytes(headers, 'upload-length');
  if (said !== undefined && isEnd && length !== null && said !== length)
    throw badHeader(
      'upload-length',
      `must be ${length} like Content-Length, because the body is the whole file`,
    );
  return said ?? (isEnd ? length : null);
}

/** The name is in Content-Disposition, the type in Content-Type; Upload-Metadata may say more, as in tus. */
function describeFile(headers: IncomingHttpHeaders): FormFields {
  const fields = new Map(parseMetadata(readHeader(headers, 'upload-metadata')));
  const filename = readFileName(headers);
  const type = headers['content-type'];
  if (filename !== undefined && !fields.has('filename')) fields.set('filename', [filename]);
  if (type !== undefined && !fields.has('filetype')) fields.set('filetype', [type]);
  return fields;
}

function readFileName(headers: IncomingHttpHeaders): string | undefined {
  const parameters = parseParameters(readHeader(headers, 'content-disposition') ?? '');
  return parameters.get('filename*') ?? parameters.get('filename');
}
