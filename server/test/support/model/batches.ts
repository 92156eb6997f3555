// Steps on many files at once: all of them, or none.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Reply } from '../api.ts';
import {
  type Caller,
  filesOf,
  outcomeOfCopies,
  outcomeOfRestore,
  type Space,
  type StoredFile,
  storeFile,
  type User,
} from '../model.ts';
import { farAway, forgetFile } from './files.ts';
import {
  asked,
  type Draw,
  expectFile,
  expectOutcome,
  expectStatus,
  fileCallers,
  files,
  folders,
  pick,
  refusal,
  someOwner,
  someone,
  someSpace,
  tenantOf,
  type UserPath,
  type World,
} from './story.ts';

const isTrashed = ({ trashed }: StoredFile): boolean => trashed === true;
const isLive = (file: StoredFile): boolean => !isTrashed(file);

interface Batch {
  readonly chosen: readonly StoredFile[];
  /** An id that this caller does not have there, if there is one. */
  readonly strange: string | undefined;
  /** As they are sent: maybe with one of them twice, in other letters. */
  readonly ids: readonly string[];
}

/**
 * Up to three files of one user, with an id among them that is sometimes strange. Null if there is nothing to send. Those that
 * are meant, but not taken, are not strange.
 */
function someBatch(
  world: World,
  caller: Caller,
  user: User | null,
  draw: Draw,
  isMeant: (file: StoredFile) => boolean,
  isTaken = isMeant,
): Batch | null {
  const own = user && caller.project ? filesOf(caller.project, user) : [];
  const meant = own.filter((file) => isMeant(file) && (!caller.space || file.space === caller.space));
  const taken = meant.filter(isTaken);
  const first = draw.what % Math.max(1, taken.length);
  const some = taken.slice(first, first + 1 + (draw.number % 3));
  const chosen = draw.number % 2 ? some : some.reverse();
  const elsewhere = world.projects
    .flatMap((project) => project.files)
    .filter((file) => !meant.includes(file));
  const strange =
    draw.stray % 5 > 0 ? undefined : ((draw.yes ? pick(elsewhere, draw.what)?.id : null) ?? randomUUID());
  const known = chosen.map(({ id }) => id);
  const ids = strange === undefined ? known : draw.also ? [strange, ...known] : [...known, strange];
  const again = draw.stray % 4 === 1 ? known.slice(0, 1).map((id) => id.toUpperCase()) : [];
  return ids.length === 0 ? null : { chosen, strange, ids: [...ids, ...again] };
}

/** An unknown id is named. */
function expectNamed(reply: Reply, { strange }: Batch): void {
  if (reply.status === 404 && strange !== undefined)
    expect(reply.body.error.details?.id ?? strange).toBe(strange);
}

/** What comes back is in the order of what was sent. */
const expectInOrder = (shown: readonly { id: string }[], chosen: readonly StoredFile[]): void =>
  expect(shown.map(({ id }) => id)).toEqual(chosen.map(({ id }) => id));

/** An update or a deletion. */
export async function runBatch(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someOwner(world, caller, draw, isLive);
  const batch = someBatch(world, caller, place.user, draw, isLive);
  if (!batch) return;
  const { chosen, strange, ids } = batch;
  const isUpdate = draw.number % 4 > 1;
  const change = { folder: pick(folders, draw.what) ?? '', tags: draw.also ? ['batch'] : [] };
  const body = isUpdate ? { ids, action: 'update', set: change } : { ids, action: 'delete' };
  const reply = await world.api.post(`${place.path}/files/batch`, caller.text, body);
  const held = isUpdate ? undefined : chosen.find((file) => file.isHeld)?.id;
  // Of an id that is held and one that is unknown, the first in the list is named.
  const wrong = ids.find((id) => id === held || id === strange);
  const known = wrong === undefined ? 200 : wrong === held ? 423 : 404;
  const scope = isUpdate ? 'files:write' : 'files:delete';
  const expected = refusal(caller, { actors: files, scope }, place) ?? known;
  const isDone = expectStatus(reply, expected, asked(caller, `files.batch to ${body.action}`));
  expectNamed(reply, batch);
  if (!isDone) return;
  if (isUpdate) expectInOrder(reply.body.files, chosen);
  else expect(reply.body.deleted).toEqual(chosen.map(({ id }) => id));
  for (const file of chosen) {
    if (isUpdate) Object.assign(file, change);
    else forgetFile(tenantOf(caller), file, false);
  }
}

interface CopyWishes {
  readonly folder?: string;
  readonly visibility?: 'public';
  readonly retain_until?: string;
  readonly space_id?: string | null;
}

function someWishes(draw: Draw, aimed: Space | undefined): CopyWishes {
  const space_id = pick([undefined, undefined, null, aimed?.id], draw.stray >> 5);
  return {
    ...(draw.yes ? { folder: pick(folders, draw.number) ?? '' } : {}),
    ...(draw.number % 4 === 1 ? { visibility: 'public' } : {}),
    ...(draw.stray % 11 === 3 ? { retain_until: farAway } : {}),
    ...(space_id === undefined ? {} : { space_id }),
  };
}

/** A space token copies within its space, whatever it asks for. */
function placeCopies(
  { space: pinned }: Caller,
  { space_id, retain_until, ...meta }: CopyWishes,
  space: Space | undefined,
  sources: readonly StoredFile[],
): StoredFile[] {
  return sources.map((file) => ({
    ...file,
    ...meta,
    space: pinned ?? (space_id === undefined ? file.space : (space_id && space) || null),
    isHeld: retain_until !== undefined,
    isDue: false,
  }));
}

/** Of a file with a job, nobody can tell which bytes it has at this moment. */
export async function copyMany(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someOwner(world, caller, draw, isLive);
  const { aimed, space } = someSpace(world, caller, draw, place);
  const batch = someBatch(world, caller, place.user, draw, isLive, (file) => isLive(file) && !file.job);
  if (!batch) return;
  const set = someWishes(draw, aimed);
  const reply = await world.api.post(`${place.path}/files/batch`, caller.text, {
    ids: batch.ids,
    action: 'copy',
    ...(Object.keys(set).length > 0 || draw.also ? { set } : {}),
  });
  const copies = placeCopies(caller, set, space, batch.chosen);
  const outcome = expectedOfCopies(caller, place, set, space, batch, copies);
  const isDone = expectOutcome(reply, outcome, asked(caller, 'files.batch to copy'), 422);
  expectNamed(reply, batch);
  if (!isDone) return;
  expect(reply.body.files).toHaveLength(copies.length);
  for (const [index, shown] of reply.body.files.entries()) {
    const copy: StoredFile = { ...(copies[index] as StoredFile), id: shown.id };
    storeFile(tenantOf(caller), copy);
    expectFile(shown, copy);
  }
}

function expectedOfCopies(
  caller: Caller,
  place: UserPath,
  { space_id, retain_until }: CopyWishes,
  space: Space | undefined,
  { strange }: Batch,
  copies: readonly StoredFile[],
): number | string {
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  if (refused !== null || !place.user) return refused ?? 404;
  // Whether the user is active is asked first, as of an upload; then about what was said of the copies.
  if (!place.user.active) return 403;
  if (retain_until !== undefined && caller.kind !== 'project') return 403;
  if (space_id && !caller.space && !space?.active) return space ? 403 : 404;
  if (strange !== undefined) return 404;
  return outcomeOfCopies(tenantOf(caller), place.user, copies);
}

export async function restoreMany(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someOwner(world, caller, draw, isTrashed);
  const batch = someBatch(world, caller, place.user, draw, isTrashed);
  if (!batch) return;
  const { chosen, strange, ids } = batch;
  const isMistaken = draw.stray % 13 === 2;
  const set = isMistaken ? { set: { folder: 'a' } } : {};
  const body = { ids, action: 'restore', ...set };
  const reply = await world.api.post(`${place.path}/files/batch`, caller.text, body);
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  const known = () =>
    strange === undefined ? outcomeOfRestore(tenantOf(caller), place.user as User, chosen) : 404;
  const outcome = refused ?? (isMistaken ? 422 : known());
  const isDone = expectOutcome(reply, outcome, asked(caller, 'files.batch to restore'), 422);
  expectNamed(reply, batch);
  if (!isDone) return;
  expectInOrder(reply.body.files, chosen);
  for (const [index, file] of chosen.entries()) {
    file.trashed = false;
    expectFile(reply.body.files[index], file);
  }
}
