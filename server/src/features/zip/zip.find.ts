// Finds the files of a zip and computes its layout. Equal files give equal bytes, whenever and wherever they are asked for.
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { SpaceFilter } from '../../contract/file.ts';
import { PakhusError } from '../../kernel/error.ts';
import { ZipLayout } from '../../kernel/media/zip-layout.ts';
import { buildZipNames } from '../../kernel/media/zip-names.ts';
import { readPage, search } from '../../platform/db/project-work.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { compressedName } from '../files/files.objects.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { countFiles, filesMax, listFiles, type Wanted, type ZipFileRow } from './zip.sql.ts';

export interface Zip {
  readonly projectId: string;
  readonly userId: string;
  readonly layout: ZipLayout;
  /** In the order of the layout's entries. */
  readonly files: readonly ZipFile[];
  readonly etag: string;
  readonly modifiedAt: Date;
}

export interface ZipFile {
  readonly id: string;
  readonly zone: Zone;
  /** The digest of the result, if the content is one of a compression. */
  readonly result: string | null;
  /** Null until the content was read. */
  crc32: number | null;
}

/** What one caller asks for. */
export interface ZipRequest {
  readonly actor: TenantActor;
  readonly userId: string;
  readonly space: SpaceFilter;
  readonly wanted: Wanted;
}

/** How many files there are. Throws if they are too many or some are missing. */
export async function countWanted(deps: Deps, request: ZipRequest): Promise<number> {
  const { actor, userId, space, wanted } = request;
  const statement = countFiles(actor.projectId, userId, space, wanted);
  const [row] = await readWanted<{ files: number }>(deps, request, statement);
  const files = row?.files ?? 0;
  if (files > filesMax) throw tooManyFiles();
  return files;
}

export const tooManyFiles = () =>
  new PakhusError(
    'VALIDATION_ERROR',
    `A zip holds at most ${filesMax} files: zip subfolders, or give the ids of fewer files`,
    {
      status: 422,
      details: {
        issues: [{ path: 'query', message: `must choose at most ${filesMax} files`, code: 'maxItems' }],
      },
    },
  );

/** A folder within a space has no index of its own. */
const readWanted = <Row>(deps: Deps, { actor, space, wanted }: ZipRequest, statement: Sql): Promise<Row[]> =>
  space !== 'all' && 'folder' in wanted
    ? search<Row>(deps, actor.projectId, statement)
    : readPage<Row>(deps, actor.projectId, statement);

export async function findZip(deps: Deps, request: ZipRequest): Promise<Zip> {
  const { actor, userId, space, wanted } = request;
  const { projectId } = actor;
  const rows = await readWanted<ZipFileRow>(deps, request, listFiles(projectId, userId, space, wanted));
  if (rows.length > filesMax) throw tooManyFiles();
  if ('ids' in wanted) refuseMissing(wanted.ids, rows);
  const root = 'folder' in wanted ? wanted.folder : '';
  const contents: Content[] = [];
  for (const row of rows) {
    const isResult =
      row.job_status === 'done' || (isUnsettled(row) && (await holdsResult(deps, projectId, row)));
    contents.push(toContent(row, isResult, root));
  }
  return layOut(projectId, userId, contents);
}

function refuseMissing(ids: readonly string[], rows: readonly ZipFileRow[]): void {
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.find((id) => !found.has(id));
  if (missing === undefined) return;
  throw new PakhusError('NOT_FOUND', `This user has no file ${missing}`, {
    details: { issues: [{ path: 'ids', message: `names no file: ${missing}`, code: 'unknown' }] },
  });
}

interface Content extends ZipFile {
  readonly folder: string;
  readonly name: string;
  readonly bytes: number;
  readonly createdAtMs: number;
}

/** The worker has noted its result, and not yet that it is in place. Told by the size. */
const isUnsettled = ({ job_status, result_sha256, result_size, size }: ZipFileRow): boolean =>
  job_status !== 'done' && result_sha256 !== null && result_size !== size;

async function holdsResult({ objects }: Deps, projectId: string, row: ZipFileRow): Promise<boolean> {
  const info = await objects.head(row.zone, toStorageKey({ projectId, id: row.id }));
  return info?.bytes === row.result_size;
}

function toContent(row: ZipFileRow, isResult: boolean, root: string): Content {
  return {
    id: row.id,
    folder: within(root, row.folder),
    name: isResult ? compressedName(row.name, row.result_format ?? '') : row.name,
    zone: row.zone,
    bytes: isResult ? (row.result_size ?? 0) : row.size,
    createdAtMs: Date.parse(row.created_at),
    result: isResult ? row.result_sha256 : null,
    // Until the job is done, the row has that of the original.
    crc32: isResult && row.job_status !== 'done' ? null : row.crc32,
  };
}

/** Names are relative to the folder that was asked for. */
const within = (root: string, folder: string): string =>
  root === '' ? folder : folder.slice(root.length + 1);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** By folder and name; of equal names, the older file comes first and keeps it. */
const inOrder = (one: Content, other: Content): number =>
  compare(one.folder, other.folder) ||
  compare(one.name, other.name) ||
  one.createdAtMs - other.createdAtMs ||
  compare(one.id, other.id);

async function layOut(projectId: string, userId: string, contents: Content[]): Promise<Zip> {
  contents.sort(inOrder);
  await setImmediate();
  const names = buildZipNames(contents);
  // Thousands of names take a while, and other requests wait.
  await setImmediate();
  const layout = new ZipLayout(
    contents.map(({ bytes, createdAtMs }, at) => ({
      name: names[at] ?? '',
      bytes,
      modifiedAtMs: createdAtMs,
    })),
  );
  return {
    projectId,
    userId,
    layout,
    files: contents.map(({ id, zone, result, crc32 }) => ({ id, zone, result, crc32 })),
    etag: toEtag(layout, contents),
    modifiedAt: new Date(contents.reduce((latest, { createdAtMs }) => Math.max(latest, createdAtMs), 0)),
  };
}

/** A file and the digest of its compression name a content: no digest of it is needed, which may not be known yet. */
function toEtag(layout: ZipLayout, contents: readonly Content[]): string {
  const hash = createHash('sha256');
  for (const [at, { id, result, bytes, createdAtMs }] of contents.entries())
    hash.update(`${id} ${result} ${bytes} ${createdAtMs} ${layout.entries[at]?.name}\n`);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}
