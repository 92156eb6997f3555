// check-floors.mjs reports each kind of forbidden import.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFloors } from '../../scripts/check-floors.mjs';

function check(files: Readonly<Record<string, string>>): string[] {
  const src = mkdtempSync(join(tmpdir(), 'floors-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(src, dirname(path)), { recursive: true });
      writeFileSync(join(src, path), text);
    }
    return checkFloors(src);
  } finally {
    rmSync(src, { recursive: true });
  }
}

test.each([
  [
    'an import upwards, of a type',
    { 'kernel/a.ts': "import type { B } from '../contract/b.ts';", 'contract/b.ts': '' },
    'kernel/a.ts imports upwards: contract/b.ts',
  ],
  [
    'a cycle of files',
    { 'kernel/a.ts': "import { b } from './b.ts';", 'kernel/b.ts': "import { a } from './a.ts';" },
    'a cycle of files: kernel/a.ts -> kernel/b.ts -> kernel/a.ts',
  ],
  [
    'a cycle of features without a cycle of files',
    {
      'features/files/files.a.ts': "import { b } from '../users/users.b.ts';",
      'features/users/users.b.ts': '',
      'features/users/users.c.ts': "import { d } from '../files/files.d.ts';",
      'features/files/files.d.ts': '',
    },
    'a cycle of features: files -> users -> files',
  ],
  [
    "an import of another feature's statements",
    {
      'features/files/files.a.ts': "import { b } from '../users/users.sql.ts';",
      'features/users/users.sql.ts': '',
    },
    'features/files/files.a.ts reaches into users: features/users/users.sql.ts',
  ],
  [
    'a package outside its place',
    { 'features/files/files.a.ts': "import { fastify } from 'fastify';" },
    'features/files/files.a.ts imports fastify',
  ],
  [
    'another workspace',
    { 'app.ts': "import { createClient } from '@pakhus/client';" },
    'app.ts imports from outside the service: @pakhus/client',
  ],
  [
    'a file of another workspace',
    { 'app.ts': "import { table } from '../../cli/src/table.ts';" },
    'app.ts imports from outside the service: ../../cli/src/table.ts',
  ],
  [
    'the environment outside config.ts',
    { 'http/a.ts': 'export const port = process.env.PORT;' },
    'http/a.ts reads the environment',
  ],
  ['a folder on no floor', { 'utils/a.ts': '' }, 'utils/a.ts is on no floor'],
])('%s is found', (_what, files, complaint) => {
  expect(check(files as Readonly<Record<string, string>>)).toEqual([complaint]);
});

test('imports of the same floor and of lower ones pass', () => {
  const files = {
    'main.ts': "import { a } from './http/a.ts';",
    'http/a.ts': "import { b } from '../features/files/files.routes.ts';",
    'features/files/files.routes.ts': "import { c } from './files.sql.ts';",
    'features/files/files.sql.ts': "import { pg } from '../../platform/db/pg.ts';",
    'platform/db/pg.ts': "import { Client } from 'pg';",
  };
  expect(check(files)).toEqual([]);
});
