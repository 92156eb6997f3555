// Steps on shares, by those who own the files and by strangers with a link.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { sha256 } from '../bytes.ts';
import { rowsOf } from '../database.ts';
import { isOpen, isShared, isUsedUp, type Project, type Share } from '../model.ts';
import { expectBytesStatus, fetchBytes } from './reading.ts';
import {
  asked,
  type Draw,
  expectListed,
  expectStatus,
  fileCallers,
  files,
  type Guard,
  pathOfUser,
  pick,
  pickLive,
  projectOf,
  refusal,
  someFile,
  someone,
  someUser,
  tenantOf,
  type World,
} from './story.ts';

const sharing: Guard = { actors: files, scope: 'files:share' };
const sharePasswords = ['a password', 'another'];

const viewOfShare = (share: Share) => ({
  id: share.id,
  file_id: share.file.id,
  max_downloads: share.max,
  downloads: share.downloads,
  has_password: share.password !== null,
  active: share.active,
});

export async function createShare(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const max = draw.yes ? 1 + (draw.what % 3) : null;
  // Rarely, because hashing one costs more than everything else.
  const password = draw.stray % 8 === 1 ? (pick(sharePasswords, draw.what) ?? null) : null;
  const isPast = draw.stray % 16 === 2;
  const expires_at = isPast ? '2001-01-01' : null;
  const reply = await world.api.post(`${at}/shares`, caller.text, {
    max_downloads: max,
    password,
    expires_at,
  });
  const known = isPast ? 422 : file ? 201 : 404;
  const expected = refusal(caller, sharing, place) ?? known;
  if (!expectStatus(reply, expected, asked(caller, 'shares.create')) || !file) return;
  const { id } = reply.body.share;
  const url = new URL(reply.body.url).pathname;
  const made = { id, file, url, max, password, active: true, isExpired: false, downloads: 0, gone: false };
  tenantOf(caller).shares.push(made);
  expect(reply.body.share).toMatchObject(viewOfShare(made));
}

const sharesOf = (project: Project | null, keep: (share: Share) => boolean): Share[] =>
  project?.shares.filter((share) => isShared(project, share) && keep(share)) ?? [];

/** Of one file, or of all of a user's. */
export async function listShares(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const path = draw.yes ? `${at}/shares` : `${place.path}/shares`;
  const reply = await world.api.get(`${path}?limit=100`, caller.text);
  const expected = refusal(caller, sharing, place) ?? (draw.yes && !file ? 404 : 200);
  if (!expectStatus(reply, expected, asked(caller, 'shares.list'))) return;
  const seen = sharesOf(caller.project, (share) =>
    draw.yes
      ? share.file === file
      : share.file.owner === place.user && (!caller.space || share.file.space === caller.space),
  );
  expectListed(
    reply.body.shares,
    seen.map(({ id }) => id),
  );
  for (const shown of reply.body.shares)
    expect(shown).toMatchObject(viewOfShare(seen.find(({ id }) => id === shown.id) as Share));
}

/** Mostly a share that exists for this caller. */
export async function withShare(world: World, draw: Draw, verb: 'read' | 'change' | 'delete'): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const shares = world.projects.flatMap((project) => project.shares);
  const isSeen = (one: Share) =>
    sharesOf(caller.project, (each) => each === one).length > 0 &&
    (!caller.pinned || caller.pinned === one.file.owner) &&
    (!caller.space || caller.space === one.file.space);
  const aimed = pickLive(shares, isSeen, draw, draw.number);
  const place =
    aimed && draw.stray % 5 > 0 ? pathOfUser(caller, aimed.file.owner) : someUser(world, caller, draw);
  const at = `${place.path}/files/${aimed?.file.id ?? randomUUID()}/shares/${aimed?.id ?? randomUUID()}`;
  const share = sharesOf(caller.project, (one) => one === aimed && one.file.owner === place.user).find(
    ({ file }) => !caller.space || file.space === caller.space,
  );
  const refused = refusal(caller, sharing, place);
  const what = asked(caller, `shares.${verb}`);
  if (verb === 'read') {
    const reply = await world.api.get(at, caller.text);
    if (expectStatus(reply, refused ?? (share ? 200 : 404), what) && share)
      expect(reply.body.share).toMatchObject(viewOfShare(share));
  } else if (verb === 'delete') {
    const reply = await world.api.delete(at, caller.text);
    if (expectStatus(reply, refused ?? (share ? 204 : 404), what) && share) share.gone = true;
  } else {
    const change = { active: draw.yes, max_downloads: draw.also ? 1 + (draw.what % 5) : null };
    const reply = await world.api.put(at, caller.text, change);
    if (!expectStatus(reply, refused ?? (share ? 200 : 404), what) || !share) return;
    if (share.active && !change.active) tenantOf(caller).toldOfFolders.push(`share.revoked ${share.id}`);
    Object.assign(share, { active: change.active, max: change.max_downloads });
    expect(reply.body.share).toMatchObject(viewOfShare(share));
  }
}

/** Any share that ever was. */
function someLink(world: World, draw: Draw): { project: Project; share: Share; url: string } | null {
  const project = projectOf(world, draw);
  const share = pickLive(project.shares, (one) => isOpen(project, one), draw, draw.what);
  if (!share) return null;
  return { project, share, url: `${new URL(world.api.baseUrl).origin}${share.url}` };
}

export async function openPage(world: World, draw: Draw): Promise<void> {
  const { project, share, url } = someLink(world, draw) ?? {};
  if (!project || !share || !url) return;
  const open = isOpen(project, share) && !isUsedUp(share);
  const page = await fetchBytes(draw.stray % 9 === 1 ? `${url}x` : url, undefined);
  expectBytesStatus(page, open && draw.stray % 9 !== 1 ? 200 : 404, 'shares.page');
  if (draw.also || !open) return;
  const past = "now() - interval '1 second'";
  await rowsOf(
    world.real.base.databaseUrl,
    `update shares set expires_at = ${past} where id = '${share.id}'`,
  );
  share.isExpired = true;
  expectBytesStatus(await fetchBytes(url, undefined), 404, 'shares.page of an expired share');
}

/** The pass that opens a download, if it has a password and this is it. */
async function unlock(url: string, password: string): Promise<string> {
  const sent = new URLSearchParams({ password }).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await fetchBytes(`${url}/download`, undefined, type, 'POST', sent);
  expectBytesStatus(reply, 303, 'shares.unlock');
  return String(reply.headers['set-cookie']).split(';', 1)[0] ?? '';
}

export async function downloadShared(world: World, draw: Draw): Promise<void> {
  const { project, share, url } = someLink(world, draw) ?? {};
  if (!project || !share || !url) return;
  const isThere = isOpen(project, share) && !isUsedUp(share);
  const isUnlocked = share.password !== null && isThere && draw.yes;
  const pass = isUnlocked && share.password !== null ? { cookie: await unlock(url, share.password) } : {};
  const isRange = draw.stray % 4 === 1 && share.file.size > 0 && !share.file.job;
  const headers = { ...pass, ...(isRange ? { range: 'bytes=0-' } : {}) };
  const reply = await fetchBytes(`${url}/download`, undefined, headers);
  const known = share.password !== null && !isUnlocked ? 403 : isRange ? 206 : 200;
  if (!expectBytesStatus(reply, isThere ? known : 404, 'shares.download')) return;
  share.downloads += 1;
  if (share.file.job) return;
  expect(sha256(reply.body)).toBe(share.file.sha256);
  if (share.file.size === 0) return;
  // Resumed, it is the same download, even if there is no other left.
  const at = draw.number % share.file.size;
  const resumed = { ...pass, range: `bytes=${at}-`, 'if-range': String(reply.headers.etag) };
  const rest = await fetchBytes(`${url}/download`, undefined, resumed);
  expectBytesStatus(rest, 206, 'shares.download, resumed');
  expect(rest.body.equals(share.file.content.subarray(at))).toBe(true);
}
