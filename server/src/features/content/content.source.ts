// The content of a file: the bytes that are in the store now, which compression may have made others than those uploaded.
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { WantedFile } from '../../contract/file.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { ByteRange } from '../../kernel/media/byte-range.ts';
import type { ObjectBody, Zone } from '../../platform/objects/object-store.ts';
import { compressedName } from '../files/files.objects.ts';
import { fileNotFound } from '../files/files.service.ts';
import { type ContentRow, findContentRow } from './content.sql.ts';

export interface FileContent {
  readonly projectId: string;
  readonly fileId: string;
  readonly zone: Zone;
  /** In the store. */
  readonly key: string;
  /** As it is delivered: compression changes the ending. */
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Hex; null while it is not known. */
  readonly sha256: string | null;
  /** Names these bytes: it does not change when the file's metadata does, nor with the store. */
  readonly etag: string;
  readonly modifiedAt: Date;
}

/** What is needed to open it. */
export type StoredContent = Pick<FileContent, 'projectId' | 'fileId' | 'zone' | 'key' | 'bytes'>;

export const findContent = (
  deps: ContentDeps,
  actor: TenantActor,
  userId: string,
  fileId: string,
): Promise<FileContent> =>
  findContentOf(deps, { projectId: actor.projectId, userId, spaceId: pinnedSpaceOf(actor), fileId });

type ContentDeps = Pick<Deps, 'db' | 'objects'>;

/** Throws NOT_FOUND if there is no such file. Asks the store only while the file is being compressed. */
export async function findContentOf(deps: ContentDeps, wanted: WantedFile): Promise<FileContent> {
  const [row] = await deps.db.read<ContentRow>(findContentRow(wanted));
  if (!row) throw fileNotFound();
  const isResult = row.job_status === 'done' || (isUnsettled(row) && (await holdsResult(deps, row)));
  return { ...locate(wanted, row), ...(isResult ? resultOf(wanted, row) : originalOf(wanted, row)) };
}

/** The worker has noted its result, and not yet that it is in place. */
const isUnsettled = ({ job_status, result_sha256 }: ContentRow): boolean =>
  job_status !== 'done' && result_sha256 !== null;

/** Told by the size. With equal sizes the original is assumed, whose digest shows a reader if it was not. */
async function holdsResult({ objects }: Pick<Deps, 'objects'>, row: ContentRow): Promise<boolean> {
  const info = await objects.head(row.zone, row.storage_key);
  return info?.bytes === row.result_size && row.result_size !== row.size;
}

const locate = ({ projectId, fileId }: WantedFile, row: ContentRow) => ({
  projectId,
  fileId,
  zone: row.zone,
  key: row.storage_key,
});

const originalOf = ({ fileId }: WantedFile, row: ContentRow) => ({
  name: row.name,
  contentType: row.mime_type,
  bytes: row.size,
  sha256: row.sha256,
  etag: toEtag(fileId, ''),
  modifiedAt: new Date(row.created_at),
});

const resultOf = ({ fileId }: WantedFile, row: ContentRow) => ({
  name: compressedName(row.name, row.result_format ?? ''),
  contentType: `image/${row.result_format}`,
  bytes: row.result_size ?? 0,
  sha256: row.result_sha256,
  etag: toEtag(fileId, row.result_sha256 ?? ''),
  modifiedAt: new Date(row.result_at ?? row.created_at),
});

/** Not of the digest of the original, which may be unknown at first: the bytes would have two ETags then. */
const toEtag = (fileId: string, resultSha256: string): string =>
  `"${hash('sha256', `${fileId}/${resultSha256}`, 'base64url').slice(0, 22)}"`;

/** The object has been moved, replaced or deleted since its row was read: read the row again. */
export const contentGone = (): PakhusError => new PakhusError('NOT_FOUND', 'The file no longer exists');

export const isContentGone = (error: unknown): boolean =>
  error instanceof PakhusError && error.code === 'NOT_FOUND';

type OpenDeps = Pick<Deps, 'objects' | 'downloads'>;

/**
 * The bytes of a range that lies within the content. The stream holds a bounded amount of memory, ends the store's request
 * when it is destroyed, and asks the store for the rest if that breaks off. NOT_FOUND: see `contentGone`.
 */
export async function openContent(
  deps: OpenDeps,
  content: StoredContent,
  range: ByteRange,
  signal?: AbortSignal,
): Promise<Readable> {
  if (deps.objects.kind === 'disk') return openExpected(deps, content, range, signal);
  const release = await deps.downloads.acquire(content.projectId, signal);
  try {
    return (await openExpected(deps, content, range, signal)).once('close', release);
  } catch (error) {
    release();
    throw error;
  }
}

async function openExpected(
  { objects }: Pick<Deps, 'objects'>,
  { zone, key, bytes }: StoredContent,
  range: ByteRange,
  signal: AbortSignal | undefined,
): Promise<ObjectBody> {
  const body = await objects.get(zone, key, range, signal, { toClient: true });
  if (body.object?.bytes === bytes) return body;
  body.on('error', () => undefined).destroy();
  throw contentGone();
}
