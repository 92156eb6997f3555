// Copies files. The bytes are copied inside the store; the copies are charged like uploads.
import type { TenantActor } from '../../contract/actor.ts';
import { pinnedSpaceOf } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { FileRow } from '../../contract/file.ts';
import type { Subject } from '../../contract/subject.ts';
import { allEnded } from '../../kernel/async/settled.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { toRefusal } from '../files/files.checks.ts';
import { commitFile } from '../files/files.commit.ts';
import { type Copy, type CopyWishes, duplicate, readSources } from '../files/files.duplicate.ts';
import { refuseKeeping } from '../files/files.keeping.ts';
import { mergeValues, noValues } from '../files/files.meta.ts';
import { refuseAbsentSpace } from '../files/files.service.ts';
import type { FileMetaInput } from '../files/files.wire.ts';
import { removeRefused, waitForRemoval } from '../objects/objects.remove.ts';
import { countFor } from '../traffic/traffic.count.ts';

export interface CopyInput extends FileMetaInput {
  readonly name?: string;
  readonly space_id?: string | null;
}

/** All of them, or none. The copies are in the order of the ids. */
export async function copyFiles(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  fileIds: readonly string[],
  input: CopyInput,
  call: Call,
  audit: AuditStamp,
): Promise<FileRow[]> {
  if (!user.active) throw toRefusal('inactive user');
  const wishes = toWishes(deps, actor, input);
  if (wishes.space_id && actor.kind !== 'space')
    await refuseAbsentSpace(deps, actor.projectId, user.id, wishes.space_id);
  // Before anything is copied, so that a wrong id costs nothing.
  await readSources(deps, actor, user.id, fileIds);
  const made = new Map<string, Copy>();
  const copiesInOrder = () => fileIds.flatMap((fileId) => made.get(fileId) ?? []);
  try {
    await copyObjects(fileIds, async (fileId) => {
      made.set(fileId, await duplicate(deps, actor, user, fileId, wishes));
    });
    await call.recheckCredential();
  } catch (error) {
    await dropCopies(deps, copiesInOrder());
    throw error;
  }
  const copies = copiesInOrder();
  const rows = await commitCopies(deps, actor.projectId, user, copies, audit);
  const bytes_in = copies.reduce((sum, { file }) => sum + file.size, 0);
  countFor(deps, actor, user.id, { uploads: copies.length, bytes_in });
  return rows;
}

function toWishes(deps: Deps, actor: TenantActor, { name, space_id, ...meta }: CopyInput): CopyWishes {
  refuseKeeping(deps, actor, noValues, mergeValues(noValues, meta));
  return {
    name,
    space_id: pinnedSpaceOf(actor) ?? space_id?.toLowerCase() ?? space_id,
    values: (source) => mergeValues(source, meta),
  };
}

const copiesAtOnce = 8;

async function copyObjects(
  fileIds: readonly string[],
  copy: (fileId: string) => Promise<void>,
): Promise<void> {
  const pending = [...fileIds];
  const work = async () => {
    for (let fileId = pending.shift(); fileId !== undefined; fileId = pending.shift()) {
      await copy(fileId).catch((error: unknown) => {
        pending.length = 0;
        throw error;
      });
    }
  };
  await allEnded(Array.from({ length: Math.min(copiesAtOnce, fileIds.length) }, work));
}

/** A copy whose commit failed without an answer is left to the reaper: it may have succeeded. */
async function commitCopies(
  deps: Deps,
  projectId: string,
  user: Subject,
  copies: readonly Copy[],
  audit: AuditStamp,
): Promise<FileRow[]> {
  const { refused, stored } = await projectTransaction(deps, projectId, async (tx) => {
    const rows: FileRow[] = [];
    for (const { file } of copies) {
      const { outcome, stored_at } = await commitFile(tx, file, audit);
      if (outcome !== 'stored') throw new Refused(outcome);
      rows.push({ ...file, compression: null, created_at: stored_at, updated_at: stored_at });
    }
    return { refused: null, stored: rows };
  }).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error;
    return { refused: error, stored: [] };
  });
  if (!refused) return stored;
  await dropCopies(deps, copies);
  throw toRefusal(refused.outcome, user);
}

/** Rolls the transaction back. */
class Refused extends Error {
  readonly outcome: Parameters<typeof toRefusal>[0];

  constructor(outcome: Parameters<typeof toRefusal>[0]) {
    super(outcome);
    this.outcome = outcome;
  }
}

const dropCopies = (deps: Deps, copies: readonly Copy[]): Promise<void> =>
  waitForRemoval(Promise.all(copies.map(({ object }) => removeRefused(deps, object))));
