// Deletes shares whose file is gone for good and that no trigger has deleted: those of files that an older release deleted.
import type { Deps } from '../../contract/deps.ts';
import { periodic } from '../../contract/job.ts';
import { deleteShare, listForSweep, type SharePosition } from './shares.sql.ts';

const batch = 1_000;
const nil = '00000000-0000-0000-0000-000000000000';

export const shareSweep = periodic({
  name: 'shares.sweep',
  everySeconds: () => 6 * 3_600,
  run: sweepShares,
});

interface SweptRow extends SharePosition {
  readonly has_file: boolean;
}

/** Follows the key, so that each batch costs the same. */
export async function sweepShares({ db }: Pick<Deps, 'db'>, signal: AbortSignal): Promise<void> {
  let after: SharePosition | undefined = { project_id: nil, id: nil };
  while (after && !signal.aborted) {
    const rows: SweptRow[] = await db.query<SweptRow>(listForSweep(after, batch));
    for (const { project_id, id, has_file } of rows)
      if (!has_file) await db.query(deleteShare(project_id, id));
    after = rows.length < batch ? undefined : rows.at(-1);
  }
}
