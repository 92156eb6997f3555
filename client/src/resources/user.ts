// What belongs to one end user: plan, storage, tokens, spaces and statistics.
import type { CallOptions, CreateOptions, Http, PathPart } from '../http.ts';
import { listing } from '../listing.ts';
import type { BodyOf, QueryOf } from '../types.ts';
import type { Learnt } from '../upload/job.ts';
import { filesOf, foldersOf, imagesOf, moreFilesOf, uploadsOf } from './files.ts';
import { loadDelivery, toTools } from './load-delivery.ts';

export type UserResource = ReturnType<typeof userResource>;

/** `user` is the part of the path that names the user. */
export function userResource(http: Http, user: PathPart, learnt: Learnt) {
  const params = [user];
  const at = '/project/users/{userId}';
  return {
    get: async (options?: CallOptions) => (await http.call(`GET ${at}`, { params, ...options })).user,
    /** Activates or deactivates the user. */
    update: async (body: BodyOf<`PUT ${typeof at}`>, options?: CallOptions) =>
      (await http.call(`PUT ${at}`, { params, body, ...options })).user,
    /** Deletes the user with all spaces and files. */
    delete: (options?: CallOptions) => http.call(`DELETE ${at}`, { params, ...options }),
    assignPlan: async (planId: string, options?: CallOptions) =>
      (await http.call(`PUT ${at}/plan`, { params, body: { planId }, ...options })).user,
    /** Bytes used, reserved and available. */
    storage: (options?: CallOptions) => http.call(`GET ${at}/storage`, { params, ...options }),
    stats: (options?: CallOptions) => http.call(`GET ${at}/stats`, { params, ...options }),
    tokens: {
      /** A token for the user's own app. Give it to the page and keep the key on your server. */
      mint: (body: BodyOf<`POST ${typeof at}/tokens`> = {}, options?: CreateOptions) =>
        http.create(`POST ${at}/tokens`, { params, body }, options),
      revoke: (jti: string, options?: CallOptions) =>
        http.call(`POST ${at}/tokens/revoke`, { params, body: { jti }, ...options }),
    },
    spaces: spacesOf(http, user),
    files: { ...filesOf(http, user, learnt), ...moreFilesOf(http, user) },
    folders: foldersOf(http, user),
    /** Loads what manages links for others: `const shares = await user.shares()`. */
    shares: async () => (await loadDelivery()).sharesOf(toTools(http), user),
    images: imagesOf(http, user),
    uploads: uploadsOf(http, user),
  };
}

function spacesOf(http: Http, userId: PathPart) {
  const at = '/project/users/{userId}/spaces';
  const one = `${at}/{spaceId}` as const;
  return {
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { params: [userId], query, ...options }, ({ spaces }) => spaces),
    create: async (body: BodyOf<`POST ${typeof at}`>, options?: CreateOptions) =>
      (await http.create(`POST ${at}`, { params: [userId], body }, options)).space,
    get: async (spaceId: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [userId, spaceId], ...options })).space,
    update: async (spaceId: string, body: BodyOf<`PUT ${typeof one}`>, options?: CallOptions) =>
      (await http.call(`PUT ${one}`, { params: [userId, spaceId], body, ...options })).space,
    /** Its files stay with the user. */
    delete: (spaceId: string, options?: CallOptions) =>
      http.call(`DELETE ${one}`, { params: [userId, spaceId], ...options }),
    /** Sets the password that logs into the space. */
    setPassword: (spaceId: string, password: string, options?: CallOptions) =>
      http.call(`PUT ${one}/credentials`, { params: [userId, spaceId], body: { password }, ...options }),
  };
}
