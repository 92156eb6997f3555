// Steps on files one by one and on folders: uploads, changes, copies, the trash, expiry and holds.
import { deflateSync } from 'node:zlib';
import { expect } from 'vitest';
import { removeExpired } from '../../../src/features/files/files.upkeep.ts';
import { sha256 } from '../bytes.ts';
import { rowsOf } from '../database.ts';
import { blankPng, png } from '../image-files.ts';
import { never } from '../ledger.ts';
import {
  type Caller,
  filesOf,
  outcomeOfCopies,
  outcomeOfRestore,
  outcomeOfUpload,
  type Pixels,
  type Project,
  type StoredFile,
  storeFile,
  type User,
} from '../model.ts';
import { contentTypeOf, formOf, partsOf } from '../uploads.ts';
import {
  asked,
  type Draw,
  expectFile,
  expectOutcome,
  expectStatus,
  fileCallers,
  fileNames,
  files,
  folders,
  pick,
  projectOf,
  refusal,
  sizes,
  someFile,
  someone,
  someSpace,
  someUser,
  tenantOf,
  types,
  type UserPath,
  type World,
} from './story.ts';

/** A file as one caller sees it. */
interface Seen extends UserPath {
  readonly caller: Caller;
  readonly at: string;
  readonly file: StoredFile | undefined;
  readonly trashed?: StoredFile | undefined;
}

const pixelsOfImage = { width: 64, height: 48 };
const image = blankPng(pixelsOfImage.width, pixelsOfImage.height);

const pixelsOfPicture = { width: 4, height: 4 };
/** Four rows of four shades. */
const picture = png({
  ...pixelsOfPicture,
  data: deflateSync(
    Buffer.from([0, 0, 80, 160, 240, 0, 9, 89, 169, 249, 0, 3, 83, 163, 243, 0, 6, 86, 166, 246]),
  ),
});

interface Sent {
  readonly bytes: Buffer;
  readonly type: string;
  readonly picture?: Pixels;
}

/** A picture is an image that nobody compresses; one of them is cut short. */
function someContent(kind: 'file' | 'image' | 'picture', draw: Draw): Sent {
  if (kind === 'image') return { bytes: image, type: 'image/png', picture: pixelsOfImage };
  if (kind === 'picture')
    return draw.stray % 6 === 1
      ? { bytes: picture.subarray(0, -20), type: 'image/png' }
      : { bytes: picture, type: 'image/png', picture: pixelsOfPicture };
  return {
    bytes: Buffer.alloc(pick(sizes, draw.number) ?? 0, `${draw.number} and ${draw.what} `),
    type: pick(types, draw.what % 7 > 4 ? draw.what : 0) ?? '',
  };
}

/** Null if the upload was refused, as the model said. */
export async function uploadAs(
  kind: 'file' | 'image' | 'picture',
  world: World,
  draw: Draw,
): Promise<Seen | null> {
  const caller = someone(world, draw, fileCallers);
  const { path, user, aimed } = someSpace(world, caller, draw);
  const wanted = caller.kind !== 'space' && draw.yes ? aimed : undefined;
  const { bytes, type, picture } = someContent(kind, draw);
  const size = bytes.length;
  const field = kind === 'image' ? 'image' : 'file';
  const name = pick(fileNames, draw.stray) ?? '';
  const folder = pick(folders, draw.what) ?? '';
  const tags = draw.also ? ['red'] : [];
  const visibility = draw.number % 5 === 0 ? 'public' : 'private';
  const meta = { folder, tags, visibility, ...(wanted ? { space_id: wanted.id } : {}) } as const;
  const reply = await world.api.call('POST', `${path}/${field}s`, {
    ...(caller.text === undefined ? {} : { as: caller.text }),
    raw: formOf(partsOf(bytes, { type, meta, fileField: field, name })),
    headers: { 'content-type': contentTypeOf() },
  });
  const what = asked(caller, `${kind}s.upload`);
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, { path, user });
  if (refused !== null || !user) {
    expectStatus(reply, refused ?? 404, what);
    return null;
  }
  const project = tenantOf(caller);
  const isOwn = wanted && !wanted.gone && wanted.owner === user;
  const space = caller.space ?? (isOwn ? wanted : null);
  const outcome = outcomeOfUpload(project, user, wanted && !isOwn ? 'unknown' : space, size, type);
  if (typeof outcome === 'string') {
    expectStatus(reply, 422, `${what} (${outcome})`);
    expect(reply.body.error.code).toBe(outcome);
    return null;
  }
  if (!expectStatus(reply, outcome === 201 && kind === 'image' ? 202 : outcome, what)) return null;
  const file: StoredFile = {
    id: kind === 'image' ? reply.body.file_id : reply.body.file.id,
    name,
    content: bytes,
    owner: user,
    space: space ?? null,
    size,
    sha256: sha256(bytes),
    isHashed: true,
    mimeType: type,
    folder,
    tags,
    visibility,
    job: kind === 'image' ? { id: reply.body.job_id, isDone: false } : null,
    ...(picture ? { picture } : {}),
  };
  storeFile(project, file);
  if (kind !== 'image') expectFile(reply.body.file, file);
  return { caller, path, user, at: `${path}/files/${file.id}`, file };
}

export async function changeOne(
  world: World,
  { caller, at, file, trashed: _, ...place }: Seen,
  draw: Draw,
): Promise<void> {
  const change = {
    folder: pick(folders, draw.what) ?? '',
    tags: draw.also ? ['blue'] : [],
    visibility: draw.yes ? 'public' : 'private',
  } as const;
  const reply = await world.api.put(at, caller.text, change);
  const expected = refusal(caller, { actors: files, scope: 'files:write' }, place) ?? (file ? 200 : 404);
  if (!expectStatus(reply, expected, asked(caller, 'files.change')) || !file) return;
  Object.assign(file, change);
  expectFile(reply.body.file, file);
}

export async function deleteOne(
  world: World,
  { caller, at, file, trashed, ...place }: Seen,
  permanent = false,
): Promise<void> {
  const reply = await world.api.delete(permanent ? `${at}?permanent=true` : at, caller.text);
  const gone = file ?? (permanent ? trashed : undefined);
  const known = gone?.isHeld ? 423 : gone ? 204 : 404;
  const expected = refusal(caller, { actors: files, scope: 'files:delete' }, place) ?? known;
  if (expectStatus(reply, expected, asked(caller, 'files.delete')) && gone)
    forgetFile(tenantOf(caller), gone, permanent);
}

/** It is gone, or in the trash. */
export function forgetFile(project: Project, file: StoredFile, permanent: boolean): void {
  if (project.trashDays > 0 && !permanent) file.trashed = true;
  else project.files.splice(project.files.indexOf(file), 1);
}

/** The files in a folder and below it that the caller sees. */
const filesBelow = (caller: Caller, user: User, folder: string): StoredFile[] =>
  filesOf(tenantOf(caller), user).filter(
    (file) =>
      !file.trashed &&
      (!caller.space || file.space === caller.space) &&
      (file.folder === folder || file.folder.startsWith(`${folder}/`)),
  );

export async function moveFolder(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const [from, to] = [pick(folders, draw.what) ?? '', pick(folders, draw.number) ?? ''];
  const reply = await world.api.post(`${place.path}/folders/move`, caller.text, { from, to });
  const isInside = from === '' || from === to || to.startsWith(`${from}/`);
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  const expected = refused ?? (isInside ? 422 : 200);
  if (!expectStatus(reply, expected, asked(caller, 'folders.move')) || expected !== 200 || !place.user)
    return;
  const moved = filesBelow(caller, place.user, from);
  expect(reply.body).toEqual({ files: moved.length });
  for (const file of moved) {
    file.folder = `${to}${file.folder.slice(from.length)}`.replace(/^\//, '');
    tenantOf(caller).toldOfFolders.push(`file.updated ${file.id}`);
  }
}

export async function deleteFolder(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const prefix = pick(folders, draw.what) ?? '';
  const reply = await world.api.delete(
    `${place.path}/folders?prefix=${encodeURIComponent(prefix)}`,
    caller.text,
  );
  const refused = refusal(caller, { actors: files, scope: 'files:delete' }, place);
  const gone = refused === null && place.user ? filesBelow(caller, place.user, prefix) : [];
  const known = gone.some(({ isHeld }) => isHeld) ? 423 : 200;
  const expected = refused ?? (prefix === '' ? 400 : known);
  if (!expectStatus(reply, expected, asked(caller, 'folders.delete')) || !place.user) return;
  expect(reply.body).toEqual({ files: gone.length });
  const project = tenantOf(caller);
  const type = project.trashDays > 0 ? 'file.trashed' : 'file.deleted';
  for (const file of gone) {
    forgetFile(project, file, false);
    project.toldOfFolders.push(`${type} ${file.id}`);
  }
}

/** Of a file with a job, nobody can tell which bytes it has at this moment. */
export async function copyOne(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  if (file?.job) return;
  const folder = draw.yes ? (pick(folders, draw.what) ?? '') : undefined;
  const visibility = draw.also ? 'public' : undefined;
  const reply = await world.api.post(`${at}/copy`, caller.text, { folder, visibility });
  const what = asked(caller, 'files.copy');
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  // Whether the user is active is asked first, as of an upload.
  if (refused !== null || !file) {
    expectStatus(reply, refused ?? (place.user?.active ? 404 : 403), what);
    return;
  }
  const project = tenantOf(caller);
  const copy: StoredFile = {
    ...file,
    folder: folder ?? file.folder,
    visibility: visibility ?? file.visibility,
    isHeld: false,
    isDue: false,
  };
  const outcome = outcomeOfCopies(project, file.owner, [copy]);
  if (!expectOutcome(reply, outcome === 200 ? 201 : outcome, what, 422)) return;
  const made = { ...copy, id: reply.body.file.id };
  storeFile(project, made);
  expectFile(reply.body.file, made);
}

export async function restoreOne(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file: _live, trashed, ...place } = someFile(world, caller, draw);
  const reply = await world.api.post(`${at}/restore`, caller.text);
  const what = asked(caller, 'trash.restore');
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  const outcome = refused ?? (trashed ? outcomeOfRestore(tenantOf(caller), trashed.owner, [trashed]) : 404);
  if (!expectOutcome(reply, outcome, what, 422) || outcome !== 200 || !trashed) return;
  trashed.trashed = false;
  expectFile(reply.body.file, trashed);
}

export async function listTrash(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const reply = await world.api.get(`${place.path}/files?trashed=true&limit=100`, caller.text);
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? 200;
  if (!expectStatus(reply, expected, asked(caller, 'trash.list')) || !place.user) return;
  const trashed = filesOf(tenantOf(caller), place.user).filter(
    (file) => file.trashed && (!caller.space || file.space === caller.space),
  );
  const shown = reply.body.files.map(({ id }: { id: string }) => id);
  expect(shown.sort()).toEqual(trashed.map(({ id }) => id).sort());
}

export const farAway = '2099-01-01T00:00:00.000Z';

/** A hold, or an expiry in the far future: both are values of a file. */
export async function hold(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const isPast = draw.stray % 5 === 1;
  const time = isPast ? '2001-01-01T00:00:00.000Z' : farAway;
  const name = draw.yes ? 'retain_until' : 'expires_at';
  const reply = await world.api.put(at, caller.text, { [name]: time });
  const allowed = name === 'retain_until' && caller.kind !== 'project' ? 403 : isPast ? 422 : 200;
  // What stays as it is may be said by anybody.
  const isSame = name === 'retain_until' && file?.isHeld && !isPast;
  const known = file ? (isSame ? 200 : allowed) : 404;
  const expected = refusal(caller, { actors: files, scope: 'files:write' }, place) ?? known;
  if (!expectStatus(reply, expected, asked(caller, `files.hold by ${name}`)) || !file) return;
  if (name === 'retain_until') file.isHeld = true;
  else file.isDue = false;
  expectFile(reply.body.file, file);
}

/** As if its time had passed. */
export async function endHold(world: World, draw: Draw): Promise<void> {
  const held = world.projects.flatMap((project) =>
    project.files.filter(({ isHeld }) => isHeld).map((file) => ({ project, file })),
  );
  const { project, file } = pick(held, draw.what) ?? {};
  if (!project || !file) return;
  const past = "now() - interval '1 second'";
  await rowsOf(
    world.real.base.databaseUrl,
    `update files set retain_until = ${past} where id = '${file.id}'`,
  );
  file.isHeld = false;
  if (file.isDue) await remove(world, project, file);
}

/** As if the time at which a file expires had come. A hold keeps it, for everybody to see. */
export async function expire(world: World, draw: Draw): Promise<void> {
  const project = projectOf(world, draw);
  const file = pick(
    project.files.filter(({ trashed }) => !trashed),
    draw.what,
  );
  if (!file) return;
  const past = "now() - interval '1 second'";
  await rowsOf(world.real.base.databaseUrl, `update files set expires_at = ${past} where id = '${file.id}'`);
  file.isDue = true;
  if (!file.isHeld) await remove(world, project, file);
}

async function remove(world: World, project: Project, file: StoredFile): Promise<void> {
  await removeExpired(world.real.current.pakhus.deps, never);
  file.isDue = false;
  forgetFile(project, file, false);
}
