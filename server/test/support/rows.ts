// A database of its own for a test file, with rows made directly in it: for tests of statements and functions.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { AuditStamp } from '../../src/contract/audit.ts';
import type { Sql } from '../../src/platform/db/sql.ts';
import { freshDatabase } from './database.ts';
// Reads numbers and times as the service does.
import '../../src/platform/db/postgres.ts';

export const audit: AuditStamp = {
  action: 'file.upload',
  projectId: null,
  actorType: 'integration',
  actorId: randomUUID(),
  actorKeyId: 'pk_12345678',
  ipAddress: '192.0.2.1',
  userAgent: 'a "client"',
};

/** Open from the first test of the file to the last. */
export class RowsDatabase {
  #database!: Awaited<ReturnType<typeof freshDatabase>>;
  #client!: pg.Client;

  constructor() {
    beforeAll(async () => {
      this.#database = await freshDatabase();
      this.#client = await this.connect();
    });
    afterAll(async () => {
      await this.#client.end();
      await this.#database.drop();
    });
  }

  get url(): string {
    return this.#database.url;
  }

  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    return client;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests read rows freely.
  query(text: string, values: unknown[] = []): Promise<pg.QueryResult<any>> {
    return this.#client.query(text, values);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async run({ text, values }: Sql): Promise<any[]> {
    return (await this.query(text, [...values])).rows;
  }

  newProject(): Promise<string> {
    return this.#idOf('insert into projects (name) values ($1)', ['p']);
  }

  newPlan(project: string, limit: number): Promise<string> {
    const insert =
      'insert into plans (project_id, name, storage_limit, max_file_size) values ($1, $2, $3, 1000)';
    return this.#idOf(insert, [project, randomUUID(), limit]);
  }

  newUser(project: string, plan: string | null = null, active = true): Promise<string> {
    const insert = 'insert into users (project_id, external_id, plan_id, active) values ($1, $2, $3, $4)';
    return this.#idOf(insert, [project, randomUUID(), plan, active]);
  }

  newSpace(project: string, user: string, limit: number | null = null, active = true): Promise<string> {
    const insert = `insert into spaces (project_id, user_id, external_id, name, limit_bytes, active)
      values ($1, $2, $3, $3, $4, $5)`;
    return this.#idOf(insert, [project, user, randomUUID(), limit, active]);
  }

  async #idOf(insert: string, values: unknown[]): Promise<string> {
    return (await this.query(`${insert} returning id`, values)).rows[0].id;
  }
}
