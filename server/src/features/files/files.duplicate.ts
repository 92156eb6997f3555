// Copies files within the store: reads what they are, copies their objects, and makes the rows to commit.
import type { TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { FileValues, NewFile } from '../../contract/file.ts';
import type { HeldObject } from '../../contract/object-ref.ts';
import type { Subject } from '../../contract/subject.ts';
import { retry } from '../../kernel/async/retry.ts';
import { outage, PakhusError } from '../../kernel/error.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { removeRefused, waitForRemoval } from '../objects/objects.remove.ts';
import { gatherFacts, largestFile, refuseSize, refuseType, toRoom } from './files.checks.ts';
import { findSources, type SourceRow } from './files.duplicate.sql.ts';
import { buildObjectMeta, compressedName, zoneFor } from './files.objects.ts';
import { scopeOf } from './files.remove.ts';
import { findMissing } from './files.restore.ts';
import { fileNotFound } from './files.service.ts';

/** What a copy shall be, as far as it differs from its source. */
export interface CopyWishes {
  readonly name?: string | undefined;
  readonly space_id?: string | null | undefined;
  readonly values: (source: FileValues) => FileValues;
}

export interface Copy {
  readonly file: NewFile;
  readonly object: HeldObject;
}

/** Throws if one of them is missing. */
export async function readSources(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileIds: readonly string[],
): Promise<SourceRow[]> {
  const rows = await deps.db.read<SourceRow>(findSources(scopeOf(actor, userId), fileIds));
  const missing = findMissing(fileIds, rows);
  if (missing !== undefined) throw fileNotFound(missing);
  return rows;
}

const attemptsMax = 3;

/** The object may move or be compressed meanwhile: the copy is made again then. */
export const duplicate = (
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  fileId: string,
  wishes: CopyWishes,
): Promise<Copy> =>
  retry(
    attemptsMax,
    (error) => error instanceof SourceChanged,
    async () => {
      const [source] = await readSources(deps, actor, user.id, [fileId]);
      if (!source) throw fileNotFound();
      return duplicateOnce(deps, actor, user, source, wishes);
    },
  ).catch((error: unknown) => {
    if (!(error instanceof SourceChanged)) throw error;
    throw outage('storage', 'The file was changed while it was copied: try again', error);
  });

class SourceChanged extends Error {}

async function duplicateOnce(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  source: SourceRow,
  wishes: CopyWishes,
): Promise<Copy> {
  const file = await describeCopy(deps, actor, user, source, wishes);
  const object = await deps.reservations.newObject(actor.projectId, file.zone);
  const target = { key: toStorageKey(object), meta: buildObjectMeta(file.name, file.mime_type) };
  // A copy that failed may still be made, so its reservation stays for the reaper; one that was made is removed here.
  await deps.reservations
    .whileReserved(object, () => deps.objects.copy(source.zone, object.zone, source.storage_key, target))
    .catch(explainAbsence);
  try {
    await refuseChanged(deps, actor, user.id, source);
  } catch (error) {
    await waitForRemoval(removeRefused(deps, object));
    return explainAbsence(error);
  }
  return { file: { ...file, id: object.fileId, storage_key: target.key }, object };
}

/** The source is somewhere else, or gone: the next attempt finds out. */
function explainAbsence(error: unknown): never {
  throw error instanceof PakhusError && error.code === 'NOT_FOUND' ? new SourceChanged() : error;
}

async function refuseChanged(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  before: SourceRow,
): Promise<void> {
  const [after] = await readSources(deps, actor, userId, [before.id]);
  if (after?.format !== before.format || after?.zone !== before.zone) throw new SourceChanged();
}

/** Checks what an upload of these bytes would have to fulfil; the commit checks the room again. */
async function describeCopy(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  source: SourceRow,
  { name, space_id, values }: CopyWishes,
): Promise<Omit<NewFile, 'id' | 'storage_key'>> {
  const part = { filename: name ?? deliveredName(source), contentType: source.mime_type };
  const facts = await gatherFacts(user, [], part, Buffer.alloc(0));
  refuseType(user, [], facts);
  refuseSize(source.size, 0, largestFile(deps, user.plan?.maxFileSize ?? null), toRoom(user), user);
  const kept = values({ ...source, expires_at: null, retain_until: null });
  return {
    project_id: actor.projectId,
    user_id: user.id,
    space_id: space_id === undefined ? source.space_id : space_id,
    name: facts.name,
    size: source.size,
    mime_type: source.mime_type,
    zone: zoneFor(deps.objects, kept.visibility),
    sha256: source.sha256,
    crc32: source.crc32,
    ...kept,
  };
}

/** A compressed image is copied as what it is now. */
const deliveredName = ({ name, format }: SourceRow): string =>
  format === null ? name : compressedName(name, format);
