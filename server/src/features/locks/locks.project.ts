// One at a time within a project: for changes of it, and for those of its keys and plans that look at them all.
import type { Transaction } from '../../platform/db/postgres.ts';
import { sql } from '../../platform/db/sql.ts';

/** Uploads and reads go on meanwhile. */
export async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(sql`select from projects where id = ${projectId} for no key update`);
}

/** Also against rows that would refer to the project. */
export async function lockProjectWhole(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(sql`select from projects where id = ${projectId} for update`);
}
