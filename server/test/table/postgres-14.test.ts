// We promise PostgreSQL 14. This test looks for newer features in all SQL; .ci/run also runs tests on the oldest PostgreSQL it
// can get for the machine.
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const serverFolder = fileURLToPath(new URL('../../', import.meta.url));

/** Callable functions in the catalog of PostgreSQL 18 that are not in that of 14. */
const newFunctions = `
  any_value array_reverse array_sample array_shuffle array_sort casefold crc32 crc32c date_add date_subtract erf erfc gamma
  has_largeobject_privilege has_parameter_privilege icu_unicode_version json_agg_strict json_object_agg_strict
  json_object_agg_unique json_object_agg_unique_strict jsonb_agg_strict jsonb_object_agg_strict jsonb_object_agg_unique
  jsonb_object_agg_unique_strict jsonb_populate_record_valid lgamma pg_backup_start pg_backup_stop pg_basetype
  pg_column_toast_chunk_id pg_get_acl pg_input_error_info pg_input_is_valid pg_log_standby_snapshot pg_settings_get_flags
  pg_split_walfile_name pg_stat_force_next_flush pg_stat_have_stats random_normal regexp_count regexp_instr regexp_like
  regexp_substr to_bin to_oct to_regtypemod unicode_assigned unicode_version uuid_extract_timestamp uuid_extract_version
  uuidv4 uuidv7 xmltext`
  .trim()
  .split(/\s+/);

/** Settings in pg_settings of 18 that are not in that of 14, as far as clients can set them. */
const newSettings = `
  createrole_self_grant debug_parallel_query enable_distinct_reordering enable_group_by_reordering
  enable_presorted_aggregate enable_self_join_elimination event_triggers icu_validation_level recursive_worktable_factor
  scram_iterations stats_fetch_consistency transaction_timeout vacuum_buffer_usage_limit`
  .trim()
  .split(/\s+/);

interface Rule {
  readonly feature: string;
  readonly found: RegExp;
  /** SQL that the rule must find: a rule that misses its own example guards nothing. */
  readonly example: string;
}

const newFeatures: readonly Rule[] = [
  { feature: 'MERGE', found: /\bmerge\s+into\b/i, example: 'merge into files using fresh on true' },
  { feature: 'MERGE', found: /\bmerge_action\s*\(/i, example: 'returning merge_action()' },
  {
    feature: 'NULLS NOT DISTINCT',
    found: /\bnulls\s+(?:not\s+)?distinct\b/i,
    example: 'unique nulls not distinct (name)',
  },
  {
    feature: 'views with security_invoker',
    found: /\bsecurity_invoker\b/i,
    example: 'create view v with (security_invoker)',
  },
  {
    feature: 'SET NULL or SET DEFAULT of chosen columns',
    found: /\bon\s+delete\s+set\s+(?:null|default)\s*\(/i,
    example: 'on delete set null (space_id)',
  },
  {
    feature: 'SQL/JSON constructors and queries',
    found: /\bjson_(?:array|arrayagg|objectagg|exists|query|value|table|scalar|serialize)\s*\(/i,
    example: 'select json_array(1, 2)',
  },
  {
    // The function of this name takes arrays; the constructor takes pairs.
    feature: 'JSON_OBJECT of pairs',
    found: /\bjson_object\s*\([^()]*(?:[^:]:[^:]|\bvalue\b|\b(?:absent|null)\s+on\s+null\b)/i,
    example: "json_object('name': name)",
  },
  { feature: 'IS JSON', found: /\bis\s+(?:not\s+)?json\b/i, example: 'where meta is json object' },
  {
    feature: 'keys and foreign keys over periods',
    found: /\bwithout\s+overlaps\b|,\s*period\s+\w+\s*\)/i,
    example: 'primary key (id, span without overlaps)',
  },
  {
    feature: 'constraints that are not enforced',
    found: /\bnot\s+enforced\b/i,
    example: 'check (size > 0) not enforced',
  },
  {
    feature: 'virtual generated columns',
    found: /\bgenerated\s+always\s+as\s*\((?:[^()]|\([^()]*\))*\)(?!\s*stored)/i,
    example: 'big boolean generated always as (size > 10)',
  },
  {
    feature: 'OLD and NEW in RETURNING',
    found: /\breturning\b(?:(?!\bselect\b|;)[^`])*?\b(?:old|new)\.\w|\breturning\s+with\s*\(/i,
    example: 'update files set size = 1 returning old.size',
  },
  {
    feature: 'random() with bounds',
    found: /(?<!\.)\brandom\s*\(\s*[^)\s]/i,
    example: 'select random(1, 6)',
  },
  {
    feature: 'numbers in other bases or with underscores',
    found: /(?<![\w$'.])(?:0[xob][0-9a-f]+|\d+_\d+)\b/i,
    example: 'limit 10_000',
  },
  {
    feature: 'COPY options of later versions',
    found: /\bcopy\b[^;`]*\b(?:on_error|reject_limit|log_verbosity|force_null\s+\*|header\s+match)\b/i,
    example: 'copy files from stdin with (on_error ignore)',
  },
  {
    feature: 'AT LOCAL',
    found: /\bat\s+local\b/i,
    example: 'select created_at at local',
  },
  {
    feature: 'a function of a later version',
    found: new RegExp(String.raw`(?<![.\w])(?:${newFunctions.join('|')})\s*\(`, 'i'),
    example: 'select regexp_like(name, $1)',
  },
  {
    feature: 'a setting of a later version',
    found: new RegExp(String.raw`\b(?:${newSettings.join('|')})\b`, 'i'),
    example: "set transaction_timeout = '8s'",
  },
];

const withoutComments = (sql: string): string => sql.replace(/--.*$/gm, '');

/** The SQL of the migrations and functions, and of every template in the source. */
async function readAllSql(): Promise<{ place: string; sql: string }[]> {
  const names = [
    ...(await listFiles('db', '.sql')).filter((name) => name !== 'db/schema.sql'),
    ...(await listFiles('src', '.ts')).filter((name) => !name.endsWith('.test.ts')),
  ];
  const pieces = await Promise.all(
    names.map(async (place) => {
      const text = await readFile(`${serverFolder}${place}`, 'utf8');
      if (place.endsWith('.sql')) return [{ place, sql: withoutComments(text) }];
      return findTemplates(text).map((sql) => ({ place, sql: withoutComments(sql) }));
    }),
  );
  return pieces.flat();
}

async function listFiles(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(`${serverFolder}${folder}`, { recursive: true });
  return names.filter((name) => name.endsWith(ending)).map((name) => `${folder}/${name}`);
}

/** Templates tagged `sql`, up to their closing backtick; templates within their placeholders count as part of them. */
function findTemplates(source: string): string[] {
  return [...source.matchAll(/\bsql(?:<[^`]*?>)?`/g)].map(({ 0: tag, index }) => {
    const start = index + tag.length;
    return source.slice(start, findEnd(source, start));
  });
}

function findEnd(source: string, start: number): number {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    const character = source[at];
    if (character === '\\') at++;
    else if (character === '`' && depth === 0) return at;
    else if (source.startsWith('${', at)) depth++;
    else if (character === '}' && depth > 0) depth--;
  }
  return source.length;
}

test.each(newFeatures)('the rule for $feature finds its example', ({ found, example }) => {
  expect(example).toMatch(found);
});

test('no statement, migration or function uses anything newer than PostgreSQL 14', async () => {
  const pieces = await readAllSql();
  expect(pieces.filter(({ place }) => place.startsWith('src/')).length).toBeGreaterThan(150);
  expect(pieces.some(({ sql }) => /create (?:or replace )?function store_files/.test(sql))).toBe(true);
  const tooNew = pieces.flatMap(({ place, sql }) =>
    newFeatures.flatMap(({ feature, found }) => {
      const [hit] = found.exec(sql) ?? [];
      return hit === undefined ? [] : [`${place}: ${feature}: ${hit}`];
    }),
  );
  expect(tooNew).toEqual([]);
});
