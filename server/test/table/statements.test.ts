import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const inServer = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Statements that name a table of tenants without a project: the declaration, its tables (once per mention) and the
 * reason. A new exception is a visible diff.
 */
const exceptions: Readonly<Record<string, string>> = {
  'app.objects.ts warnOfMissingObjects: files': 'asks at the start whether there is any file at all',
  'files.copy.sql.ts listToCopy: files': 'the objects of every project are copied',
  'credentials.sql.ts findKey: api_keys, integrations':
    'the hash of the key tells the project, and a foreign key ties a key to an integration of its own',
  'credentials.sql.ts findKeyCors: api_keys': 'the hash of the key tells the project',
  'credentials.sql.ts findSpaceToken: users': 'a foreign key ties a space to a user of its own project',
  'credentials.sql.ts withSubjects: plans': 'a foreign key ties a user to a plan of its own project',
  'events.sql.ts deleteExpired: events, events': 'expired events of every project go',
  'events.sql.ts listOldSlots: events, events': 'expired events of every project go',
  'files.index.sql.ts walkFiles: file_names':
    'what is found by its space or user alone is then held against the project',
  'files.list.sql.ts selectFound: files': 'the caller passes the condition on project and owner',
  'files.list.sql.ts selectSearched: files': 'the caller passes the condition on project and owner',
  'files.list.sql.ts selectFiles: files':
    'what is found by its space or user alone is then held against project and owner',
  'files.list.sql.ts selectFamily: files, files':
    'what is found by its user alone is then held against the project',
  'files.list.sql.ts listChildFolders: files':
    'what is found by its space or user alone is then held against project and owner',
  'files.sql.ts listExposed: files': 'the mover serves every project',
  'files.sql.ts listUnread: files': 'files of every project are read for their digests',
  'files.sql.ts listUnshown: files': 'the mover serves every project',
  'files.trash.sql.ts listExpired: files': 'files of every project expire',
  'files.trash.sql.ts listTrashed: trashed_files': 'the condition stands around the renamed columns',
  'files.trash.sql.ts listExposedTrash: trashed_files': 'the mover serves every project',
  'shares.sql.ts listForSweep: shares': 'shares of every project are swept',
  'shares.sql.ts findByToken: shares': 'the hash of the secret in the URL tells the project',
  'spaces.sql.ts findSpaceForLogin: users': 'a foreign key ties a space to a user of its own project',
  'objects.sql.ts countDue: objects': 'the backlog of the reaper, which serves every project',
  'objects.sql.ts takeExpired: objects': 'the reaper serves every project',
  'stats.sql.ts deleteEmptyTotals: stat_totals': 'folding serves every project',
  'stats.sql.ts deleteOldDays: daily_stats, daily_stats': 'old days of every project go',
  'stats.sql.ts foldDeltas: stat_deltas, stat_deltas': 'folding serves every project',
  'stats.sql.ts hasDeltas: stat_deltas': 'folding serves every project',
  'stats.sql.ts listDaysOfInstallation: daily_stats': 'the sum over every project, for the admin',
  'stats.sql.ts listInstallationTotals: stat_totals, stat_deltas':
    'the sum over every project, for the admin',
  'usage.sql.ts deleteOldDownloads: usage_downloads, usage_downloads': 'old days of every project go',
  'usage.sql.ts deleteOldUsage: usage_days, usage_days': 'old days of every project go',
  'uploads.sql.ts countByStatus: uploads': 'the state of the whole service, for its operator',
  'uploads.sql.ts findByToken: uploads': 'the hash of the secret in the URL tells the project',
  'uploads.sql.ts forgetEnded: uploads, uploads': 'ended uploads of every project go',
  'uploads.sql.ts listExpired: uploads': 'uploads of every project expire',
  'uploads.sql.ts listUnfinished: uploads': 'uploads of every project are completed',
  'variants.images.sql.ts listOverCap: stat_totals, stat_deltas': 'variants of every project are evicted',
  'variants.images.sql.ts listRetired: retired_recipes': 'retired recipes of every project go',
  'variants.images.sql.ts sumCachedBytes: stat_totals, stat_deltas':
    'the state of the whole service, for its operator',
  'webhooks.sql.ts deleteExpiredSecrets: webhook_secrets': 'secrets of every project expire',
  'webhooks.sql.ts listSealedOtherwise: webhook_secrets': 'secrets of every project are resealed',
  'webhooks.work.sql.ts claimBehind: webhooks': 'a worker serves every project',
  'webhooks.work.sql.ts claimDue: webhooks': 'a worker serves every project',
  'webhooks.work.sql.ts countWaiting: webhook_deliveries': 'the state of the whole service, for its operator',
  'webhooks.work.sql.ts listOldSlots: webhook_deliveries': 'deliveries of every project expire',
};

/** The tables whose every row belongs to a project. */
async function tenantTables(): Promise<string[]> {
  const schema = await readFile(inServer('db/schema.sql'), 'utf8');
  const tables = [...schema.matchAll(/^create table (\w+) \(\n(.*?)\n\)[^;\n]*;/gms)];
  return tables.flatMap(([, name = '', columns = '']) =>
    /^ *project_id uuid not null/m.test(columns) ? [name] : [],
  );
}

/** Calls of functions that compare the project: the whole primary key of objects, the scope of an upload's reader. */
const fragmentsThatBind = /\$\{(?:isObject|isOneOf|isVisible|isImage)\((?:[^{}]|\{[^{}]*\})*\)\}/g;

/** The declarations with SQL, without comments and quoted text, whose brackets and words would mislead. */
async function statements(): Promise<{ place: string; text: string }[]> {
  const names = (await readdir(inServer('src'), { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  const found = [];
  for (const name of names) {
    const source = await readFile(inServer(`src/${name}`), 'utf8');
    const bare = source
      .replace(/\/\*\*.*?\*\//gs, '')
      .replace(/^ *\/\/.*$/gm, '')
      .replace(/'[^'\n]*'/g, "''")
      .replace(fragmentsThatBind, 'project_id = 1');
    for (const declaration of bare.split(/\n(?=(?:export )?(?:const|function|async function) )/)) {
      const [, what = ''] = /(?:const|function) (\w+)/.exec(declaration) ?? [];
      if (/sql`/.test(declaration))
        found.push({ place: `${name.split('/').pop()} ${what}`, text: filledIn(declaration) });
    }
  }
  return found;
}

/** Inserts the SQL fragments that the declaration keeps in constants. */
function filledIn(declaration: string): string {
  const fragments = [...declaration.matchAll(/\bconst (\w+) = sql`([^`]*)`;/g)];
  return fragments.reduce(
    (text, [, name, fragment = '']) => text.replaceAll(`\${${name}}`, () => fragment),
    declaration,
  );
}

/**
 * The rest of the select, update or delete around a mention: up to the end of its bracket, its template or a union.
 * Skips nested brackets, because their conditions apply to other rows.
 */
function restOf(text: string): string {
  let depth = 0;
  let rest = '';
  for (const character of text) {
    if (')}'.includes(character)) depth -= 1;
    if (depth < 0 || (depth === 0 && character === '`')) break;
    if (depth === 0) rest += character;
    if ('({'.includes(character)) depth += 1;
  }
  return rest.split(/\bunion\b/)[0] as string;
}

const noAlias = 'where|set|on|using|join|left|cross|order|group|limit|for|union|returning|select|values';

/**
 * Whether the SQL after the mention of a table binds its rows to a project. An insert must list the column; any other
 * statement must compare it, with the table's alias if there is one. Only the left side counts: `f.project_id =
 * j.project_id` binds f, and j has to be bound elsewhere.
 */
function namesProject(verb: string, table: string, after: string): boolean {
  if (verb === 'into') return /^(?: as \w+)?\s*\([^)]*\bproject_id\b/.test(after);
  const [, alias] = new RegExp(`^\\s+(?:as\\s+)?(?!(?:${noAlias})\\b)(\\w+)`).exec(after) ?? [];
  const column = alias === undefined ? `(?:${table}\\.)?project_id` : `${alias}\\.project_id`;
  return new RegExp(`\\b(?:where|and|on)\\s+${column} = `).test(restOf(after));
}

test('every mention of a table of tenants is bound to a project, except for the exceptions listed here', async () => {
  const tables = await tenantTables();
  expect(tables).toContain('stat_deltas');
  expect(tables.length).toBeGreaterThanOrEqual(10);
  const mention = new RegExp(`\\b(from|join|into|update|using)\\s+(${tables.join('|')})\\b`, 'g');
  let mentions = 0;
  const unbound: string[] = [];
  for (const { place, text } of await statements()) {
    const missing: string[] = [];
    for (const { 0: found, 1: verb = '', 2: table = '', index } of text.matchAll(mention)) {
      mentions += 1;
      if (!namesProject(verb, table, text.slice(index + found.length))) missing.push(table);
    }
    if (missing.length > 0) unbound.push(`${place}: ${missing.join(', ')}`);
  }
  expect(mentions).toBeGreaterThan(80);
  expect(unbound.sort()).toEqual(Object.keys(exceptions).sort());
});
