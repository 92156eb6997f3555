// Steps that read the bytes of files, and those that search them.
import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'undici';
import { expect } from 'vitest';
import { readAll, sha256 } from '../bytes.ts';
import { type Caller, filesOf, type StoredFile, type User } from '../model.ts';
import { until } from '../processes.ts';
import { readZip } from '../zip-reader.ts';
import {
  asked,
  type Draw,
  expectStatus,
  fileCallers,
  files,
  folders,
  pick,
  refusal,
  sizes,
  someFile,
  someone,
  someUser,
  sorted,
  tenantOf,
  type World,
} from './story.ts';

/** The original, or its webp; only the webp once the job was seen done. A move may change the URL at any time. */
export async function readImage(
  world: World,
  caller: Caller,
  at: string,
  { sha256: original, job }: StoredFile,
): Promise<void> {
  const bytes = await until('the image can be read', async () => {
    const { body } = await world.api.get(at, caller.text);
    const reply = await request(body.file.url);
    const read = Buffer.from(await reply.body.arrayBuffer());
    return reply.statusCode === 200 && read;
  });
  const isOriginal = sha256(bytes) === original;
  if (job?.isDone || !isOriginal) expect(bytes.toString('latin1', 8, 12)).toBe('WEBP');
}

export interface Bytes {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly body: Buffer;
}

export async function fetchBytes(
  url: string,
  as: string | undefined,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
  sent: string | null = null,
): Promise<Bytes> {
  const reply = await request(url, {
    method,
    // From any address, so that the stories do not share a limit.
    headers: {
      'x-forwarded-for': [...randomBytes(4)].join('.'),
      ...(as ? { authorization: `Bearer ${as}` } : {}),
      ...headers,
    },
    body: sent,
  });
  const body = await readAll(reply.body);
  return { status: reply.statusCode, headers: reply.headers, body, text: body.toString('latin1') };
}

export const expectBytesStatus = (reply: Bytes, expected: number, what: string): boolean =>
  expectStatus({ ...reply, body: null }, expected, what);

/** A request about bytes, and which of them it must get. */
interface Asked {
  readonly headers: Record<string, string>;
  readonly status: number;
  readonly bytes: Buffer;
}

/** The ways to ask for parts of a content, or on conditions. */
function someRequest(content: Buffer, etag: string, draw: Draw): Asked {
  const size = content.length;
  const none = Buffer.alloc(0);
  const at = draw.number % Math.max(1, size);
  const end = Math.max(at, Math.min(size - 1, at + (draw.what % 300)));
  const range = (text: string) => ({ range: `bytes=${text}` });
  const satisfied = (text: string, bytes: Buffer): Asked =>
    size === 0
      ? { headers: range(text), status: 416, bytes: none }
      : { headers: range(text), status: 206, bytes };
  const ways: Asked[] = [
    { headers: {}, status: 200, bytes: content },
    satisfied(`${at}-${end}`, content.subarray(at, end + 1)),
    satisfied(`${at}-${'9'.repeat(16 + (draw.what % 9))}`, content.subarray(at)),
    satisfied(`-${end + 1}`, content.subarray(Math.max(0, size - end - 1))),
    { headers: range(`${size}-`), status: 416, bytes: none },
    { headers: range(`${at}-x`), status: 200, bytes: content },
    { headers: { 'if-none-match': etag }, status: 304, bytes: none },
    { headers: { 'if-match': '"another"' }, status: 412, bytes: none },
    { headers: { ...range(`${at}-`), 'if-range': '"another"' }, status: 200, bytes: content },
  ];
  return pick(ways, draw.stray >> 3) as Asked;
}

/** Bytes of images in the making may be those of the original or the result. */
export async function readContent(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const url = `${world.api.baseUrl}${at}/content`;
  const head = await fetchBytes(url, caller.text, {}, 'HEAD');
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? (file ? 200 : 404);
  const what = asked(caller, 'files.content');
  if (!expectBytesStatus(head, expected, `${what} (HEAD)`) || !file || file.job) return;
  expect(head.headers['content-length']).toBe(String(file.size));
  const { headers, status, bytes } = someRequest(file.content, String(head.headers.etag), draw);
  const reply = await fetchBytes(url, caller.text, headers);
  expectBytesStatus(reply, status, `${what} with ${JSON.stringify(headers)}`);
  if (status < 300) expect(reply.body.equals(bytes), `${what} with ${JSON.stringify(headers)}`).toBe(true);
}

const nameKey = (name: string): string => name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly created_at: string;
}

const sortKeys: Record<string, (file: Listed) => string | number> = {
  name: ({ name }) => nameKey(name),
  size: ({ size }) => size,
  created_at: ({ created_at }) => created_at,
};

/** A query, and which files it leaves. */
function someSearch(draw: Draw): { query: URLSearchParams; keep: (file: StoredFile) => boolean } {
  const q = draw.yes ? pick(['resume', 'ÉS', 'file', 'A_', '2.p', 'nothing'], draw.what) : undefined;
  const least = draw.also ? pick(sizes, draw.number) : undefined;
  const largest = draw.stray % 3 === 0 ? pick(sizes, draw.what) : undefined;
  const query = new URLSearchParams({ limit: draw.stray % 2 ? '2' : '100' });
  const given = { q, size_min: least, size_max: largest, sort: pick(Object.keys(sortKeys), draw.what) };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  if (draw.number % 3 > 0) query.set('order', draw.number % 3 === 1 ? 'asc' : 'desc');
  const keep = ({ name, size }: StoredFile) =>
    (q === undefined || nameKey(name).includes(nameKey(q))) &&
    size >= (least ?? 0) &&
    size <= (largest ?? Number.POSITIVE_INFINITY);
  return { query, keep };
}

export async function searchFiles(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const { query, keep } = someSearch(draw);
  const found: Listed[] = [];
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? 200;
  for (let more = true; more; ) {
    const reply = await world.api.get(`${place.path}/files?${query}`, caller.text);
    if (!expectStatus(reply, expected, asked(caller, `files.search ${query}`)) || !place.user) return;
    found.push(...reply.body.files);
    more = reply.body.next_cursor !== null;
    query.set('cursor', reply.body.next_cursor ?? '');
  }
  const seen = filesOf(tenantOf(caller), place.user as User).filter(
    (file) => !file.trashed && (!caller.space || file.space === caller.space) && keep(file),
  );
  expect(sorted(found.map(({ id }) => id))).toEqual(sorted(seen.map(({ id }) => id)));
  const sort = query.get('sort') ?? '';
  const isDown = (query.get('order') ?? (sort === 'name' ? 'asc' : 'desc')) === 'desc';
  const keys = found.map((file) => [sortKeys[sort]?.(file) ?? '', file.id] as const);
  const inOrder = [...keys].sort(([a, one], [b, other]) => (a < b || (a === b && one < other) ? -1 : 1));
  expect(keys).toEqual(isDown ? inOrder.reverse() : inOrder);
}

/** Copies in one folder have equal names, and numbers in the zip. */
const withoutNumber = (name: string): string => name.replace(/ \(\d+\)(?=(\.[^./]*)?$)/, '');

export async function readZipOf(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const folder = draw.yes ? (pick(folders, draw.what) ?? '') : undefined;
  const seen =
    place.user && caller.project
      ? filesOf(caller.project, place.user).filter(
          (file) => !file.trashed && (!caller.space || file.space === caller.space),
        )
      : [];
  const chosen =
    folder === undefined
      ? seen.slice(0, 1 + (draw.number % 4))
      : seen.filter((file) => folder === '' || `${file.folder}/`.startsWith(`${folder}/`));
  const strange = folder === undefined && (draw.stray % 6 === 0 || chosen.length === 0) ? [randomUUID()] : [];
  // Nobody can tell which bytes an image has at this moment.
  if (chosen.some(({ job }) => job)) return;
  const ids = [...chosen.map(({ id }) => id), ...strange].join();
  const query = folder === undefined ? `ids=${ids}` : `folder=${encodeURIComponent(folder)}`;
  const url = `${world.api.baseUrl}${place.path}/files/zip?${query}`;
  const reply = await fetchBytes(url, caller.text);
  const known = chosen.length === 0 || strange.length > 0 ? 404 : 200;
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? known;
  if (!expectBytesStatus(reply, expected, asked(caller, `files.zip?${query}`))) return;
  expect(reply.headers['content-length']).toBe(String(reply.body.length));
  const contents = [...readZip(reply.body)].map(([name, bytes]) => `${withoutNumber(name)} ${sha256(bytes)}`);
  const nameIn = (file: StoredFile) =>
    `${file.folder}/${file.name}`.slice(folder ? folder.length : 0).replace(/^\//, '');
  expect(sorted(contents)).toEqual(sorted(chosen.map((file) => `${nameIn(file)} ${file.sha256}`)));
  const at = draw.number % reply.body.length;
  const rest = await fetchBytes(url, caller.text, {
    range: `bytes=${at}-`,
    'if-range': String(reply.headers.etag),
  });
  expect([rest.status, rest.body.equals(reply.body.subarray(at))]).toEqual([206, true]);
}
