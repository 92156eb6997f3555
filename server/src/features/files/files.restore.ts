// Brings files back from the trash. Whether the plan allows them is decided by the caller, in the same transaction.
import type { AuditStamp } from '../../contract/audit.ts';
import type { TrashedRow } from '../../contract/file.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import type { FileScope } from './files.sql.ts';
import { lockTrashed, type RestoredRow, restoreFiles } from './files.trash.sql.ts';

export interface RestoredFile {
  readonly id: string;
  /** The file as JSON, as the API shows it. */
  readonly shown: string;
  /** Its image job, if that has not ended. */
  readonly waitingJob: string | null;
}

/** Locks the files. Throws if one of them is not in the trash. */
export async function takeTrashed(
  tx: Transaction,
  scope: FileScope,
  fileIds: readonly string[],
): Promise<TrashedRow[]> {
  const rows = await tx.query<TrashedRow>(lockTrashed(scope, fileIds));
  const missing = findMissing(fileIds, rows);
  if (missing !== undefined)
    throw new PakhusError('NOT_FOUND', `This user has no file ${missing} in the trash`, {
      details: { id: missing },
    });
  return rows;
}

/** The first id without a row. */
export function findMissing(
  fileIds: readonly string[],
  rows: readonly { readonly id: string }[],
): string | undefined {
  const found = new Set(rows.map(({ id }) => id));
  return fileIds.find((id) => !found.has(id.toLowerCase()));
}

/** In the order of the ids. */
export async function comeBack(
  tx: Transaction,
  scope: FileScope,
  fileIds: readonly string[],
  audit: AuditStamp,
): Promise<RestoredFile[]> {
  const rows = await tx.query<RestoredRow>(restoreFiles(scope, fileIds, audit));
  const restored = new Map(rows.map((row) => [row.id, row]));
  return fileIds.flatMap((fileId) => {
    const row = restored.get(fileId.toLowerCase());
    return row ? { id: row.id, shown: row.shown, waitingJob: row.waiting_job } : [];
  });
}
