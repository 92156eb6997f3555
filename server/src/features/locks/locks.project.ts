// Locks on a project's row: for changes to the project itself, and for changes to keys and plans that depend on all others.
import type { Transaction } from '../../platform/db/postgres.ts';
import { sql } from '../../platform/db/sql.ts';

/** Does not block uploads and reads. */
export async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(sql`select from projects where id = ${projectId} for no key update`);
}

/** Excludes only the deletion of the project. */
export async function lockProjectShared(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(sql`select from projects where id = ${projectId} for key share`);
}

/** Also blocks inserts of rows that reference the project. */
export async function lockProjectWhole(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(sql`select from projects where id = ${projectId} for update`);
}
