// What the console asks about trash, variants, shares and many files at once. The one place to change when the client has methods for them.
import type { AnswerOf, BodyOf, QueryOf } from '@pakhus/client';
import { http } from './api.ts';

const user = '/project/users/{userId}';
const file = `${user}/files/{fileId}` as const;
const variant = '/project/variants/{name}';

/** Of one call; more are sent in several. */
const batchMax = 1_000;
/** As many ids as fit into an address. */
export const zipIdsMax = 400;

export type Settings = AnswerOf<'GET /project/settings'>['settings'];
export type Variant = AnswerOf<'GET /project/variants'>['variants'][number];
export type NewVariant = BodyOf<'POST /project/variants'>;
export type NewShare = BodyOf<`POST ${typeof file}/shares`>;
type Batch = BodyOf<`POST ${typeof user}/files/batch`>;

export const settings = {
  get: async (signal?: AbortSignal): Promise<Settings> =>
    (await http.call('GET /project/settings', { signal })).settings,
  set: (body: Settings) => http.call('PUT /project/settings', { body }),
};

export const variants = {
  list: async (signal?: AbortSignal) => (await http.call('GET /project/variants', { signal })).variants,
  create: (body: NewVariant) => http.create('POST /project/variants', { body }),
  update: (name: string, body: BodyOf<`PUT ${typeof variant}`>) =>
    http.call(`PUT ${variant}`, { params: [name], body }),
  delete: (name: string) => http.call(`DELETE ${variant}`, { params: [name] }),
  /** `status: 'pending'` while it is made. */
  image: (userId: string, fileId: string, name: string, signal?: AbortSignal) =>
    http.call(`GET ${file}/variants/{name}`, { params: [userId, fileId, name], signal }),
};

export const shares = {
  list: (userId: string, fileId: string, query: QueryOf<`GET ${typeof file}/shares`>, signal?: AbortSignal) =>
    http.call(`GET ${file}/shares`, { params: [userId, fileId], query, signal }),
  create: (userId: string, fileId: string, body: NewShare) =>
    http.create(`POST ${file}/shares`, { params: [userId, fileId], body }),
  delete: (userId: string, fileId: string, shareId: string) =>
    http.call(`DELETE ${file}/shares/{shareId}`, { params: [userId, fileId, shareId] }),
};

export const trash = {
  list: (userId: string, query: QueryOf<`GET ${typeof user}/files`>, signal?: AbortSignal) =>
    http.call(`GET ${user}/files`, { params: [userId], query: { ...query, trashed: true }, signal }),
  restore: (userId: string, fileId: string) =>
    http.call(`POST ${file}/restore`, { params: [userId, fileId] }),
  /** For good. */
  delete: (userId: string, fileId: string) =>
    http.call(`DELETE ${file}`, { params: [userId, fileId], query: { permanent: true } }),
};

/** All files of a call, or none of them. */
export async function runBatch(userId: string, { ids, ...rest }: Batch): Promise<void> {
  for (let from = 0; from < ids.length; from += batchMax) {
    const body = { ...rest, ids: ids.slice(from, from + batchMax) };
    // Never repeated: a lost answer must not copy twice.
    await http.call(`POST ${user}/files/batch`, { params: [userId], body });
  }
}

export const copyFile = (userId: string, fileId: string, body: BodyOf<`POST ${typeof file}/copy`>) =>
  http.create(`POST ${file}/copy`, { params: [userId, fileId], body });

export const folders = {
  move: (userId: string, body: BodyOf<`POST ${typeof user}/folders/move`>) =>
    http.call(`POST ${user}/folders/move`, { params: [userId], body }),
  delete: (userId: string, query: QueryOf<`DELETE ${typeof user}/folders`>) =>
    http.call(`DELETE ${user}/folders`, { params: [userId], query }),
};

interface ZipQuery {
  readonly folder?: string;
  readonly ids?: readonly string[];
  readonly space_id?: string | undefined;
}

/** The address of a zip, once the server has said that there is one. */
export async function findZip(userId: string, { folder, ids, space_id }: ZipQuery): Promise<string> {
  const query = new URLSearchParams({
    ...(folder !== undefined && { folder }),
    ...(ids && { ids: ids.join(',') }),
    ...(space_id && { space_id }),
  });
  const url = `${http.root}/project/users/${encodeURIComponent(userId)}/files/zip?${query}`;
  await http.raw(url, { method: 'HEAD' });
  return url;
}
