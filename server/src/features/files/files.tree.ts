// Whole subtrees of folders, in the transaction of the caller.
import type { Deps } from '../../contract/deps.ts';
import type { SpaceFilter } from '../../contract/file.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { fileHeld } from './files.keeping.ts';
import {
  beforeAllFiles,
  type FilePosition,
  type FileScope,
  type FolderMove,
  findLongestFolder,
  lockFilesBelow,
  moveFolder,
  moveFolderTold,
  prepareMove,
  removeFiles,
} from './files.sql.ts';

export async function longestFolder(
  tx: Transaction,
  projectId: string,
  userId: string,
  space: SpaceFilter,
  folder: string,
): Promise<number> {
  const [row] = await tx.query<{ length: number | null }>(
    findLongestFolder(projectId, userId, space, folder),
  );
  return row?.length ?? 0;
}

/** The caller has locked the project. */
export async function moveBelow(tx: Transaction, move: FolderMove): Promise<number> {
  const [project] = await tx.query<{ listens: boolean }>(prepareMove(move.projectId));
  const [row] = await tx.query<{ files: number }>(project?.listens ? moveFolderTold(move) : moveFolder(move));
  return row?.files ?? 0;
}

const chunk = 1_000;

interface TreePosition extends FilePosition {
  readonly key: string;
}

/** In chunks, in the order of the index: starting over, each would pass all the rows that are gone already. */
export async function removeBelow(
  { bulkWork }: Pick<Deps, 'bulkWork'>,
  tx: Transaction,
  scope: FileScope,
  space: SpaceFilter,
  folder: string,
  permanent: boolean,
): Promise<number> {
  const { projectId, userId } = scope;
  const removeNext = async (after: TreePosition): Promise<readonly TreePosition[]> => {
    const files = await tx.query<TreePosition>(
      lockFilesBelow(projectId, userId, space, folder, after, chunk),
    );
    const held = files.find(({ held_until }) => held_until);
    if (held?.held_until) throw fileHeld(`The file ${held.id}`, held.held_until);
    const ids = files.map(({ id }) => id);
    if (ids.length > 0) await tx.query(removeFiles(scope, ids, permanent, null));
    return files;
  };
  let removed = 0;
  let after: TreePosition | undefined = { ...beforeAllFiles, key: '' };
  while (after) {
    const from: TreePosition = after;
    const files = await bulkWork.run(() => removeNext(from));
    removed += files.length;
    after = files.at(-1);
  }
  return removed;
}
