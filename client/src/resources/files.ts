// Files of a user, uploads on their way, and images that are compressed.
import type { CallOptions, CreateOptions, Http, PathPart } from '../http.ts';
import { listing } from '../listing.ts';
import type { BodyOf, FormOf, ListedFile, QueryOf } from '../types.ts';
import { toForm } from '../upload/form.ts';
import type { Learnt, UploadOptions } from '../upload/job.ts';
import { toSource, type UploadInput } from '../upload/source.ts';
import { startUpload } from '../upload/upload.ts';
import type { ContentOptions, DownloadOptions, ZipOptions } from './delivery.ts';
import { loadDelivery, toTools } from './load-delivery.ts';

export interface ChangeOptions extends CallOptions {
  /** The ETag of the version that you have read (see `onHeaders`): refused with PRECONDITION_FAILED if there is a newer one. */
  readonly ifMatch?: string | undefined;
}

export interface DeleteOptions extends ChangeOptions {
  /** Past the trash, or out of it. */
  readonly permanent?: boolean | undefined;
}

/** An entry of one level of the folder tree. */
export type FolderEntry = { readonly folder: string } | { readonly file: ListedFile };

export function filesOf(http: Http, userId: PathPart, learnt: Learnt) {
  const at = '/project/users/{userId}/files';
  const one = `${at}/{fileId}` as const;
  const get = async (fileId: string, options?: CallOptions) =>
    (await http.call(`GET ${one}`, { params: [userId, fileId], ...options })).file;
  return {
    /** Await it for the file, or pause, resume and abort it. */
    upload: (input: UploadInput, options: UploadOptions = {}) =>
      startUpload(http, userId, learnt, input, options),
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { params: [userId], query, ...options }, ({ files }) => files),
    /** One level of the folder tree below `prefix`: its folders and files. */
    folders: (query: QueryOf<`GET ${typeof at}/folders`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}/folders`, { params: [userId], query, ...options }, ({ folders, files }) => [
        ...folders.map((folder): FolderEntry => ({ folder })),
        ...files.map((file): FolderEntry => ({ file })),
      ]),
    /** With a `url` to download it, valid until `url_expires_at`. */
    get,
    update: async (
      fileId: string,
      body: BodyOf<`PUT ${typeof one}`>,
      { ifMatch, ...options }: ChangeOptions = {},
    ) =>
      (
        await http.call(`PUT ${one}`, {
          params: [userId, fileId],
          body,
          headers: matching(ifMatch),
          ...options,
        })
      ).file,
    /** It goes to the trash if the project keeps one. */
    delete: (fileId: string, { ifMatch, permanent, ...options }: DeleteOptions = {}) =>
      http.call(`DELETE ${one}`, {
        params: [userId, fileId],
        headers: matching(ifMatch),
        ...(permanent && { query: { permanent } }),
        ...options,
      }),
    /** Resolves to the answer of the store: read its `body`, `blob()` or `arrayBuffer()`. */
    download: async (fileId: string, { range, ifRange, signal }: DownloadOptions = {}) => {
      const { url } = await get(fileId, { signal });
      const headers = {
        ...(range && { range: `bytes=${range[0]}-${range[1] ?? ''}` }),
        ...(ifRange && { 'if-range': ifRange }),
      };
      return http.raw(url, { method: 'GET', headers, signal });
    },
  };
}

/** Beside `filesOf`: what a page that only uploads and lists does not load. */
export function moreFilesOf(http: Http, userId: PathPart) {
  const at = '/project/users/{userId}/files';
  const one = `${at}/{fileId}` as const;
  return {
    /** Brings a file back from the trash. */
    restore: async (fileId: string, options?: CallOptions) =>
      (await http.call(`POST ${one}/restore`, { params: [userId, fileId], ...options })).file,
    /** Within the store: no bytes pass through here. */
    copy: async (fileId: string, body: BodyOf<`POST ${typeof one}/copy`> = {}, options?: CreateOptions) =>
      (await http.create(`POST ${one}/copy`, { params: [userId, fileId], body }, options)).file,
    /** The same to up to 1,000 files: to all of them, or to none. Never repeated by itself. */
    batch: (body: BodyOf<`POST ${typeof at}/batch`>, options?: CallOptions) =>
      http.call(`POST ${at}/batch`, { params: [userId], body, ...options }),
    /** Resolves to the answer of the service, whatever the store: read its `body`, `blob()` or `arrayBuffer()`. */
    content: async (fileId: string, options: ContentOptions = {}) =>
      (await loadDelivery()).readContent(toTools(http), [userId, fileId], options),
    /** A URL of the file's image, by the name of a variant. Waits until it is made. */
    variant: async (fileId: string, name: string, options?: CallOptions) =>
      (await loadDelivery()).readImage(toTools(http), [userId, fileId, name], options),
    /** A folder or some files as one zip. With `range` and `ifRange`, a download that broke off can go on. */
    zip: async (options: ZipOptions) => (await loadDelivery()).readZip(toTools(http), userId, options),
  };
}

/** Whole folders, with everything below. Both resolve to how many `files` there were. */
export function foldersOf(http: Http, userId: PathPart) {
  const at = '/project/users/{userId}/folders';
  return {
    /** Or renames it. An empty `to` is the root. */
    move: (body: BodyOf<`POST ${typeof at}/move`>, options?: CallOptions) =>
      http.call(`POST ${at}/move`, { params: [userId], body, ...options }),
    delete: (query: QueryOf<`DELETE ${typeof at}`> & { prefix: string }, options?: CallOptions) =>
      http.call(`DELETE ${at}`, { params: [userId], query, ...options }),
  };
}

const matching = (etag?: string): Readonly<Record<string, string>> => (etag ? { 'if-match': etag } : {});

type ImageFields = FormOf<'POST /project/users/{userId}/images'>;

export interface ImageOptions extends Partial<ImageFields>, CreateOptions {
  readonly name?: string;
  readonly mimeType?: string;
}

export const imagesOf = (http: Http, userId: PathPart) => ({
  /** Stores an image and has it compressed: `client.jobs.wait(job_id)` resolves when that is done. */
  upload: async (input: UploadInput, options: ImageOptions = {}) => {
    const { name, mimeType, idempotencyKey, signal, onHeaders, ...fields } = options;
    const source = toSource(input);
    const chunk = await source.read(0, source.size ?? Number.MAX_SAFE_INTEGER);
    const named = { name: name ?? source.name ?? 'image', mimeType: mimeType ?? source.type ?? '' };
    const form = toForm('image', chunk, named, fields);
    return http.create(
      'POST /project/users/{userId}/images',
      { params: [userId], ...form },
      { idempotencyKey, signal, onHeaders },
    );
  },
});

/** The routes behind `files.upload`, for programs that send the bytes themselves. */
export function uploadsOf(http: Http, userId: PathPart) {
  const at = '/project/users/{userId}/uploads';
  const one = `${at}/{uploadId}` as const;
  return {
    /** Unfinished ones, and those that ended within a day. */
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { params: [userId], query, ...options }, ({ uploads }) => uploads),
    create: async (body: BodyOf<`POST ${typeof at}`>, options?: CreateOptions) =>
      (await http.create(`POST ${at}`, { params: [userId], body }, options)).upload,
    get: async (uploadId: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [userId, uploadId], ...options })).upload,
    cancel: (uploadId: string, options?: CallOptions) =>
      http.call(`DELETE ${one}`, { params: [userId, uploadId], ...options }),
    /** URLs to send parts of a direct upload to. */
    parts: async (uploadId: string, numbers: number[], options?: CallOptions) =>
      (await http.call(`POST ${one}/parts`, { params: [userId, uploadId], body: { numbers }, ...options }))
        .parts,
    complete: async (uploadId: string, parts: { number: number; etag: string }[], options?: CallOptions) =>
      (await http.call(`POST ${one}/complete`, { params: [userId, uploadId], body: { parts }, ...options }))
        .file,
  };
}
