import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const features = fileURLToPath(new URL('../../src/features', import.meta.url));
const tenantTables = [
  'api_keys',
  'integrations',
  'plans',
  'users',
  'spaces',
  'files',
  'compression_jobs',
  'daily_stats',
  'stat_totals',
  'stat_deltas',
];

/**
 * Statements on a tenant's table that do not name the project, each with the reason why it may. Whoever adds
 * one makes a visible diff.
 */
const exceptions: Readonly<Record<string, string>> = {
  'files.sql.ts claimExposed': 'the mover serves every project',
  'files.sql.ts claimAbandoned': 'asks of one object whether its own file, by its id, owns it',
  'files.sql.ts listOwned': 'the reaper serves every project: keys are checked against all of them',
  'files.sql.ts releaseOwned': 'the reaper again: it lets go of what a file owns',
  'stats.sql.ts deleteEmptyTotals': 'folding serves every project',
  'stats.sql.ts listInstallationTotals': 'the sum over every project, for the admin',
};

async function statements(): Promise<{ place: string; text: string }[]> {
  const names = (await readdir(features, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  const found = [];
  for (const name of names) {
    const source = await readFile(join(features, name), 'utf8');
    const declarations = source.split(/\n(?=(?:export )?(?:const|function|async function) )/);
    for (const declaration of declarations) {
      const [, what = ''] = /(?:const|function) (\w+)/.exec(declaration) ?? [];
      if (/sql`/.test(declaration))
        found.push({ place: `${name.split('/').pop()} ${what}`, text: declaration });
    }
  }
  return found;
}

test('every statement on a table of tenants names project_id, but for the exceptions listed here', async () => {
  const touching = new RegExp(`\\b(from|join|into|update|using)\\s+(${tenantTables.join('|')})\\b`);
  const all = await statements();
  const unscoped = all
    .filter(({ text }) => touching.test(text) && !/project_id/.test(text))
    .map(({ place }) => place);
  expect(all.length).toBeGreaterThan(60);
  expect(unscoped.sort()).toEqual(Object.keys(exceptions).sort());
});
