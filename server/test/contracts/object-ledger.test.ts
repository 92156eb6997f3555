// Every transition of the object ledger, tried from every state and by every holder: what is not listed as legal changes
// nothing. The commit of an upload and the deletion of a file are functions of the database and are tried the same way.
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditStamp } from '../../src/contract/audit.ts';
import type { NewFile } from '../../src/contract/file.ts';
import type { HeldObject } from '../../src/contract/object-ref.ts';
import { removeFiles, storeFile } from '../../src/features/files/files.sql.ts';
import * as ledger from '../../src/features/objects/objects.sql.ts';
import type { Sql } from '../../src/platform/db/sql.ts';
import { freshDatabase } from '../support/database.ts';

const states = ['reserved', 'writing', 'stored', 'moving', 'rewriting', 'deleting'] as const;
type State = (typeof states)[number];

/** Who holds the object, seen from the caller of a transition. */
const holders = ['mine', 'theirs', 'nobody'] as const;
type Holder = (typeof holders)[number];

/** Whether the hold has passed, and whether a request of an earlier holder may still arrive. */
const times = ['held', 'passed', 'late'] as const;
type Time = (typeof times)[number];

interface Situation {
  readonly state: State;
  readonly holder: Holder;
  readonly time: Time;
}

/** A stored object is held by nobody, and for no time. */
const situations = states.flatMap((state): Situation[] =>
  state === 'stored'
    ? [{ state, holder: 'nobody', time: 'held' }]
    : holders.flatMap((holder) => times.map((time) => ({ state, holder, time }))),
);

const me = randomUUID();
const them = randomUUID();
let database: Awaited<ReturnType<typeof freshDatabase>>;
let client: Client;

beforeAll(async () => {
  database = await freshDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const run = async ({ text, values }: Sql) => (await client.query(text, values as unknown[])).rows;

interface Row {
  readonly state: State;
  readonly holder: string | null;
  readonly late: boolean;
}

const rowOf = async ({ id, zone }: HeldObject): Promise<Row | 'gone'> =>
  (
    await client.query<Row>(
      'select state, holder, late_until is not null as late from objects where id = $1 and zone = $2',
      [id, zone],
    )
  ).rows[0] ?? 'gone';

async function insert(object: HeldObject, { state, holder, time }: Situation): Promise<void> {
  await client.query(
    `insert into objects (project_id, file_id, id, zone, state, holder, held_until, late_until)
     values ($1, $2, $3, $4, $5::text, $6, case when $5 = 'stored' then null
       else now() + case when $7 = 'passed' then interval '-1 minute' else interval '1 hour' end end,
       case when $7 = 'late' then now() + interval '2 hours' end)`,
    [
      object.projectId,
      object.fileId,
      object.id,
      object.zone,
      state,
      { mine: me, theirs: them, nobody: null }[holder],
      time,
    ],
  );
}

const newObject = (): HeldObject => {
  const id = randomUUID();
  return { projectId: randomUUID(), fileId: id, id, zone: 'private', holder: me };
};

interface Transition {
  readonly name: string;
  readonly statement: (object: HeldObject) => Sql;
  /** The state that it leads to; null for a situation in which it must not change anything. */
  readonly leadsTo: (from: Situation) => State | 'gone' | null;
}

const isOneOf = <Value>(value: Value, ...those: Value[]): boolean => those.includes(value);

const transitions: readonly Transition[] = [
  {
    name: 'releaseReserved',
    statement: (object) => ledger.releaseReserved([object], me),
    leadsTo: ({ state, holder }) => (state === 'reserved' && holder === 'mine' ? 'gone' : null),
  },
  {
    name: 'beginWriting',
    statement: (object) => ledger.beginWriting(object, 60),
    leadsTo: ({ state, holder }) =>
      isOneOf(state, 'reserved', 'writing') && holder === 'mine' ? 'writing' : null,
  },
  {
    name: 'forgetRefused',
    statement: (object) => ledger.forgetRefused(object),
    leadsTo: ({ state, holder }) =>
      isOneOf(state, 'reserved', 'writing') && holder === 'mine' ? 'gone' : null,
  },
  {
    name: 'storeDerived',
    statement: (object) => ledger.storeDerived(object),
    leadsTo: ({ state, holder }) =>
      isOneOf(state, 'reserved', 'writing') && holder === 'mine' ? 'stored' : null,
  },
  {
    name: 'fenceUploads',
    statement: (object) => ledger.fenceUploads([object]),
    leadsTo: ({ state }) => (isOneOf(state, 'reserved', 'writing') ? 'deleting' : null),
  },
  {
    name: 'startMove',
    statement: (object) => ledger.startMove(object, 60),
    leadsTo: ({ state, holder, time }) =>
      (state === 'moving' && (holder === 'nobody' || time === 'passed')) ||
      (state === 'deleting' && holder === 'nobody' && time !== 'late')
        ? 'moving'
        : null,
  },
  {
    name: 'releaseMove',
    statement: (object) => ledger.releaseMove(object, 60),
    leadsTo: ({ state, holder }) => (state === 'moving' && holder === 'mine' ? 'moving' : null),
  },
  {
    name: 'finishMove',
    statement: (object) => ledger.finishMove(object, 60),
    leadsTo: ({ state, holder }) => (state === 'moving' && holder === 'mine' ? 'stored' : null),
  },
  {
    name: 'startRewrite',
    statement: (object) => ledger.startRewrite(object, 60),
    leadsTo: ({ state }) => (isOneOf(state, 'stored', 'rewriting') ? 'rewriting' : null),
  },
  {
    name: 'finishRewrite',
    statement: (object) => ledger.finishRewrite(object),
    leadsTo: ({ state, holder }) => (state === 'rewriting' && holder === 'mine' ? 'stored' : null),
  },
  {
    name: 'renewHold',
    statement: (object) => ledger.renewHold(object, 60),
    leadsTo: ({ state, holder }) => (holder === 'mine' ? state : null),
  },
  {
    name: 'dropObjects',
    statement: ({ projectId, fileId }) => ledger.dropObjects(projectId, [fileId]),
    leadsTo: ({ state }) => (isOneOf(state, 'stored', 'moving', 'rewriting') ? 'deleting' : null),
  },
  {
    name: 'takeAbandoned',
    statement: (object) => ledger.takeAbandoned(object, 60),
    leadsTo: ({ state, holder }) =>
      (state === 'deleting' && holder === 'nobody') || (state === 'moving' && holder === 'mine')
        ? 'deleting'
        : null,
  },
  {
    name: 'takeExpired',
    statement: () => ledger.takeExpired(me, 60, 1_000, 'all'),
    leadsTo: ({ state, time }) =>
      time === 'passed' ? (state === 'rewriting' ? 'stored' : 'deleting') : null,
  },
  {
    name: 'forgetDeleted',
    statement: (object) => ledger.forgetDeleted([object], me),
    leadsTo: ({ state, holder, time }) =>
      state === 'deleting' && holder === 'mine' ? (time === 'late' ? 'deleting' : 'gone') : null,
  },
  {
    name: 'forgetDropped',
    statement: (object) => ledger.forgetDropped(object),
    leadsTo: ({ state, holder, time }) =>
      state === 'deleting' && holder === 'nobody' && time !== 'late' ? 'gone' : null,
  },
  {
    name: 'retryDeletion',
    statement: (object) => ledger.retryDeletion([object], me),
    leadsTo: ({ state, holder }) => (state === 'deleting' && holder === 'mine' ? 'deleting' : null),
  },
];

const wholeRow = async ({ id, zone }: HeldObject) =>
  (await client.query('select * from objects where id = $1 and zone = $2', [id, zone])).rows[0];

describe.each(transitions)('$name', ({ statement, leadsTo }) => {
  test('leads where it says, and changes nothing anywhere else', async () => {
    for (const situation of situations) {
      const object = newObject();
      await insert(object, situation);
      // What a move starts from.
      await insert({ ...object, zone: 'public' }, { state: 'stored', holder: 'nobody', time: 'held' });
      const before = await wholeRow(object);
      await run(statement(object));
      const expected = leadsTo(situation);
      const seen = `${situation.state}, held by ${situation.holder}, ${situation.time}`;
      if (expected === null) expect(await wholeRow(object), seen).toEqual(before);
      else {
        const row = await rowOf(object);
        expect(row === 'gone' ? 'gone' : row.state, seen).toBe(expected);
      }
      await client.query('delete from objects');
    }
  });
});

test('reserveObjects: an object that is in the ledger already is never reserved again', async () => {
  for (const situation of situations) {
    const object = newObject();
    await insert(object, situation);
    const before = await wholeRow(object);
    await expect(run(ledger.reserveObjects([object], me, 60))).rejects.toThrow(/duplicate key/);
    expect(await wholeRow(object)).toEqual(before);
  }
  const fresh = newObject();
  await run(ledger.reserveObjects([fresh], me, 60));
  expect(await rowOf(fresh)).toEqual({ state: 'reserved', holder: me, late: false });
});

test('startMove: starts only from an object that a file owns in the other zone', async () => {
  for (const situation of situations) {
    const object = newObject();
    await insert({ ...object, zone: 'public' }, situation);
    await run(ledger.startMove(object, 60));
    const mayStart = situation.state === 'stored' || situation.state === 'rewriting';
    expect(await rowOf(object), situation.state).toEqual(
      mayStart ? { state: 'moving', holder: me, late: false } : 'gone',
    );
  }
});

test('finishMove: the old object is held for deletion, and a late write of its image worker is expected', async () => {
  for (const [left, late] of [
    ['stored', false],
    ['rewriting', true],
  ] as const) {
    const object = newObject();
    const behind: HeldObject = { ...object, zone: 'public' };
    await insert(object, { state: 'moving', holder: 'mine', time: 'held' });
    await insert(behind, { state: left, holder: left === 'stored' ? 'nobody' : 'theirs', time: 'held' });
    await run(ledger.finishMove(object, 60));
    expect(await rowOf(object)).toEqual({ state: 'stored', holder: null, late: false });
    expect(await rowOf(behind)).toEqual({ state: 'deleting', holder: me, late });
    // The worker has lost its hold.
    expect(await run(ledger.finishRewrite({ ...behind, holder: them }))).toEqual([]);
  }
});

test('takeAbandoned: a writer whose row is gone gets a new row for the object that it wrote', async () => {
  const object = newObject();
  await run(ledger.takeAbandoned(object, 60));
  expect(await rowOf(object)).toEqual({ state: 'deleting', holder: me, late: false });
});

test('takeExpired: two reapers never take the same object', async () => {
  await client.query('delete from objects');
  const objects = Array.from({ length: 20 }, newObject);
  for (const object of objects) await insert(object, { state: 'writing', holder: 'theirs', time: 'passed' });
  const other = new Client({ connectionString: database.url });
  await other.connect();
  try {
    await client.query('begin');
    const mine = await run(ledger.takeExpired(me, 60, 15, 'all'));
    const { text, values } = ledger.takeExpired(them, 60, 100, 'all');
    const theirs = (await other.query(text, values as unknown[])).rows;
    await client.query('commit');
    const ids = [...mine, ...theirs].map(({ id }) => id);
    expect(ids.toSorted()).toEqual(objects.map(({ id }) => id).toSorted());
  } finally {
    await other.end();
  }
});

const audit: AuditStamp = {
  projectId: null,
  action: 'file.upload',
  actorType: 'project',
  actorId: null,
  actorKeyId: null,
  ipAddress: null,
  userAgent: null,
};

/** A file of a new user, not stored yet. */
async function newFile(object: HeldObject): Promise<NewFile> {
  const userId = randomUUID();
  await client.query(`insert into projects (id, name) values ($1, 'p')`, [object.projectId]);
  await client.query('insert into users (id, project_id, external_id) values ($1, $2, $3)', [
    userId,
    object.projectId,
    userId,
  ]);
  return {
    id: object.fileId,
    project_id: object.projectId,
    user_id: userId,
    space_id: null,
    name: 'n',
    size: 1,
    mime_type: 'text/plain',
    storage_key: `${object.projectId}/${object.id}`,
    zone: object.zone,
    sha256: 'ab'.repeat(32),
    folder: '',
    tags: [],
    classifier: null,
    metadata: {},
    visibility: 'private',
    expires_at: null,
    retain_until: null,
  };
}

test('store_file: stores a file whose object is reserved or being written, and no other', async () => {
  for (const situation of situations) {
    const object = newObject();
    await insert(object, situation);
    const before = await wholeRow(object);
    const [result] = await run(storeFile(await newFile(object), audit));
    const isLegal = isOneOf(situation.state, 'reserved', 'writing');
    expect(result.outcome, situation.state).toBe(isLegal ? 'stored' : 'object lost');
    if (!isLegal) expect(await wholeRow(object)).toEqual(before);
    else expect(await rowOf(object)).toMatchObject({ state: 'stored', holder: null });
  }
});

test('remove_files: takes the objects of the file from any holder', async () => {
  for (const situation of situations) {
    const object = newObject();
    const file = await newFile(object);
    await insert(object, { state: 'writing', holder: 'mine', time: 'held' });
    await run(storeFile(file, audit));
    await client.query('delete from objects where id = $1', [object.id]);
    await insert(object, situation);
    const before = await wholeRow(object);
    const { project_id, user_id, id } = file;
    await run(
      removeFiles({ projectId: project_id, userId: user_id, spaceId: null }, [id], true, {
        ...audit,
        action: 'file.delete',
      }),
    );
    if (isOneOf(situation.state, 'reserved', 'writing', 'deleting'))
      expect(await wholeRow(object)).toEqual(before);
    else
      expect(await rowOf(object), situation.state).toEqual({
        state: 'deleting',
        holder: null,
        late: situation.state !== 'stored',
      });
  }
});
