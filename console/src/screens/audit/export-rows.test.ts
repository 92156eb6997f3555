import type { AuditEntry } from '@pakhus/client';
import { describe, expect, test } from 'vitest';
import { csvHead, toCsv, toJsonLines } from './export-rows.ts';

const row = (fields: Partial<AuditEntry> = {}): AuditEntry => ({
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  project_id: null,
  actor_type: 'project',
  actor_id: null,
  actor_key_id: null,
  user_id: null,
  action: 'auth.login',
  resource_type: null,
  resource_id: null,
  ip_address: '192.0.2.7',
  user_agent: 'curl/8.5.0',
  metadata: {},
  created_at: '2026-01-31T12:00:00.000Z',
  ...fields,
});

/** The cell of the user agent, as a reader of RFC 4180 sees it. */
function userAgentOf(text: string): string | undefined {
  const cells = [...text.matchAll(/"((?:[^"]|"")*)"[,\r]/g)].map(([, cell]) => cell?.replaceAll('""', '"'));
  return cells[10];
}

describe('CSV of audit rows', () => {
  test('has a cell for each column, all of them quoted', () => {
    const names = csvHead.trim().split(',');
    const cells = toCsv([row()]).trim().split(',');
    expect(cells).toHaveLength(names.length);
    expect(cells.every((cell) => /^".*"$/.test(cell))).toBe(true);
    expect(names[10]).toBe('user_agent');
  });

  test.each([
    '=HYPERLINK("http://evil.example","open")',
    '+1',
    '-1+1',
    '@SUM(A1)',
    '\tx',
    '\r=1',
    '  =1',
    '|calc',
  ])('never starts a cell like a formula: %j', (attack) => {
    const cell = userAgentOf(toCsv([row({ user_agent: attack })]));
    expect(cell).toBe(`'${attack}`.replace("'\r=", "'\r'="));
  });

  test('guards each line of a cell', () => {
    expect(userAgentOf(toCsv([row({ user_agent: 'a\n=1\nb' })]))).toBe("a\n'=1\nb");
  });

  test.each(['say "hello", twice', 'one\ntwo', 'plain', '', 'ünï 🚢', 'a=b', 'x-y'])(
    'keeps other text: %j',
    (text) => {
      expect(userAgentOf(toCsv([row({ user_agent: text })]))).toBe(text);
    },
  );

  test('writes metadata as JSON', () => {
    expect(toCsv([row({ metadata: { new: { name: 'a"b' } } })])).toContain(
      '"{""new"":{""name"":""a\\""b""}}"',
    );
  });
});

test('JSON lines have a row each and lose nothing', () => {
  const rows = [row({ user_agent: 'two\nlines' }), row({ user_agent: '=1' })];
  const lines = toJsonLines(rows).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
});
