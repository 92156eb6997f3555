// Content, zips, images of variants, and shares. Loaded when they are needed; what this imported, bundlers would split off the rest.
import type { delay } from '../delay.ts';
import type { CallOptions, CreateOptions, Http, PathPart, Sending } from '../http.ts';
import type { listing } from '../listing.ts';
import type { BodyOf, Endpoint, QueryOf, VariantImage } from '../types.ts';

const user = '/project/users/{userId}';
const file = `${user}/files/{fileId}` as const;

export interface DownloadOptions extends CallOptions {
  /** Of bytes: the first and the last one, or only the first. */
  readonly range?: readonly [first: number, last?: number];
  /** The ETag of the bytes that you have: if the file has another one now, all of it is sent, with status 200 instead of 206. */
  readonly ifRange?: string | undefined;
}

export interface ContentOptions extends DownloadOptions {
  /** The name of a variant: an image of the file in another size and format. Waits until it is made. */
  readonly variant?: string | undefined;
  readonly disposition?: 'inline' | 'attachment' | undefined;
}

export interface ZipOptions extends DownloadOptions {
  /** With everything below it; the empty string is all that the user has. */
  readonly folder?: string | undefined;
  /** Instead of a folder. A URL has room for about 400. */
  readonly ids?: readonly string[] | undefined;
  readonly space_id?: string | undefined;
}

export type Shares = ReturnType<typeof sharesOf>;
export type Variants = ReturnType<typeof variantsOf>;

/** What this needs of the rest. */
export interface Tools {
  readonly http: Http;
  readonly pause: typeof delay;
  readonly list: typeof listing;
}

type Bytes = Extract<Endpoint, `GET ${typeof file}/content` | `GET ${typeof user}/files/zip`>;

function open<E extends Bytes>(http: Http, endpoint: E, sending: Sending<E>, options: DownloadOptions) {
  const { range, ifRange, signal, onHeaders } = options;
  const headers = {
    ...(range && { range: `bytes=${range[0]}-${range[1] ?? ''}` }),
    ...(ifRange && { 'if-range': ifRange }),
  };
  return http.open(endpoint, { ...sending, headers, signal, onHeaders });
}

/** The pause that the server asks for while an image is in the making. */
const pauseOf = (headers: Headers | undefined): number => (Number(headers?.get('retry-after')) || 1) * 1000;

export async function readContent(
  { http, pause }: Tools,
  params: readonly [PathPart, string],
  { variant, disposition, ...options }: ContentOptions,
): Promise<Response> {
  const query = { ...(variant && { variant }), ...(disposition && { disposition }) };
  for (;;) {
    const response = await open(http, `GET ${file}/content`, { params, query }, options);
    if (response.status !== 202) return response;
    await response.body?.cancel();
    await pause(pauseOf(response.headers), options.signal);
  }
}

export function readZip({ http }: Tools, userId: PathPart, options: ZipOptions): Promise<Response> {
  const { folder, ids, space_id, ...rest } = options;
  const query = {
    ...(folder !== undefined && { folder }),
    ...(ids && { ids: [...ids] }),
    ...(space_id && { space_id }),
  };
  return open(http, `GET ${user}/files/zip`, { params: [userId], query }, rest);
}

export async function readImage(
  { http, pause }: Tools,
  params: readonly [PathPart, string, string],
  options: CallOptions = {},
): Promise<VariantImage> {
  for (;;) {
    let headers: Headers | undefined;
    const image = await http.call(`GET ${file}/variants/{name}`, {
      params,
      ...options,
      onHeaders: (got) => {
        headers = got;
        options.onHeaders?.(got);
      },
    });
    if ('url' in image) return image;
    await pause(pauseOf(headers), options.signal);
  }
}

export function sharesOf({ http, list }: Tools, userId: PathPart) {
  const at = `${file}/shares` as const;
  const one = `${at}/{shareId}` as const;
  return {
    /** Of all files of the user, newest first. */
    list: (query: QueryOf<`GET ${typeof user}/shares`> = {}, options?: CallOptions) =>
      list(http, `GET ${user}/shares`, { params: [userId], query, ...options }, ({ shares }) => shares),
    /** Of one file, newest first. */
    listOf: (fileId: string, query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      list(http, `GET ${at}`, { params: [userId, fileId], query, ...options }, ({ shares }) => shares),
    /** `url` is shown this once. */
    create: (fileId: string, body: BodyOf<`POST ${typeof at}`> = {}, options?: CreateOptions) =>
      http.create(`POST ${at}`, { params: [userId, fileId], body }, options),
    get: async (fileId: string, shareId: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [userId, fileId, shareId], ...options })).share,
    /** `active: false` revokes the link, `active: true` takes that back. */
    update: async (
      fileId: string,
      shareId: string,
      body: BodyOf<`PUT ${typeof one}`>,
      options?: CallOptions,
    ) => (await http.call(`PUT ${one}`, { params: [userId, fileId, shareId], body, ...options })).share,
    delete: (fileId: string, shareId: string, options?: CallOptions) =>
      http.call(`DELETE ${one}`, { params: [userId, fileId, shareId], ...options }),
  };
}

export function variantsOf({ http, list }: Tools) {
  const at = '/project/variants';
  const one = `${at}/{name}` as const;
  return {
    list: (options?: CallOptions) => list(http, `GET ${at}`, { ...options }, ({ variants }) => variants),
    create: async (body: BodyOf<`POST ${typeof at}`>, options?: CreateOptions) =>
      (await http.create(`POST ${at}`, { body }, options)).variant,
    get: async (name: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [name], ...options })).variant,
    /** Its images are made anew, when somebody asks for them. */
    update: async (name: string, body: BodyOf<`PUT ${typeof one}`>, options?: CallOptions) =>
      (await http.call(`PUT ${one}`, { params: [name], body, ...options })).variant,
    delete: (name: string, options?: CallOptions) =>
      http.call(`DELETE ${one}`, { params: [name], ...options }),
  };
}
