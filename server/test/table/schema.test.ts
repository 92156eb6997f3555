import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { schemaText } from '../../scripts/schema.mjs';
import { freshDatabase, rowsOf } from '../support/database.ts';

const file = fileURLToPath(new URL('../../db/schema.sql', import.meta.url));

test('db/schema.sql is what the migrations make (npm run schema writes it)', async () => {
  const database = await freshDatabase();
  try {
    const [{ version } = { version: '0' }] = await rowsOf<{ version: string }>(
      database.url,
      "select current_setting('server_version_num') as version",
    );
    const text = await schemaText((statement) => rowsOf<Record<string, string>>(database.url, statement));
    if (process.env.WRITE_SCHEMA) await writeFile(file, text);
    // PostgreSQL words definitions slightly differently in each version; the file has the embedded version's.
    if (Number(version) >= 180_000) expect(text).toBe(await readFile(file, 'utf8'));
    else expect(tableNames(text)).toEqual(tableNames(await readFile(file, 'utf8')));
  } finally {
    await database.drop();
  }
});

const tableNames = (text: string) => [...text.matchAll(/create table (\w+)/g)].map((match) => match[1]);
