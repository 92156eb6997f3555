// Places on the command line: `USER:PATH` is remote, everything else is on this machine.
import type { Client, UserReference, UserResource } from '@pakhus/client/node';
import { CommandError } from '../frame/failure.ts';

export interface RemotePlace {
  /** As typed, up to and including the colon. */
  readonly prefix: string;
  /** Undefined: the user that the token belongs to. */
  readonly user: UserReference | undefined;
  /** Without slashes at either end; empty for everything that the user has. */
  readonly path: string;
  /** The path ended with a slash, or is empty: it can only be a folder. */
  readonly isFolder: boolean;
  /** Of `USER:#ID`. */
  readonly fileId: string | undefined;
}

export const placesHelp = `Places of a service are written USER:PATH, for example anna:docs/2026/a.pdf. USER is your own id of a user;
id:UUID:PATH takes the id of Pakhus instead, and with a user or space token :PATH is its own user. A PATH that ends
with a slash is a folder. Several files may have the same name: the newest one is meant, and USER:#ID names any file by
its id. * ? [abc] and ** match names; a backslash before such a character takes it literally. Write local names with a
colon as ./a:b.`;

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const byId = new RegExp(`^id:(${uuid}):(.*)$`, 's');
const byExternalId = /^([^/]*?):(.*)$/s;
const fileReference = new RegExp(`^#(${uuid})$`);

export function isRemote(text: string, platform: string = process.platform): boolean {
  if (platform === 'win32' && /^[A-Za-z]:[\\/]/.test(text)) return false;
  return byExternalId.test(text);
}

/** Throws if it is no place of a service. */
export function parseRemote(text: string): RemotePlace {
  if (!isRemote(text))
    throw new CommandError('misused', `"${text}" is not a place such as anna:docs/a.pdf: write USER:PATH`);
  const [, id, pathById = ''] = byId.exec(text) ?? [];
  if (id !== undefined) return toPlace(`id:${id}:`, { id }, pathById);
  if (text.startsWith('id:'))
    throw new CommandError('misused', `"${text}" must have the form id:UUID:PATH, with the id of a user`);
  const [, name = '', path = ''] = byExternalId.exec(text) ?? [];
  return toPlace(`${name}:`, name === '' ? undefined : name, path);
}

/** A user without a path, as arguments of `users` and `usage`: `anna`, `anna:` or `id:UUID`. */
export function parseUser(text: string): UserReference | undefined {
  const [, id] = new RegExp(`^id:(${uuid}):?$`).exec(text) ?? [];
  if (id !== undefined) return { id };
  const name = text.replace(/:$/, '');
  return name === '' ? undefined : name;
}

function toPlace(prefix: string, user: UserReference | undefined, given: string): RemotePlace {
  const [, fileId] = fileReference.exec(given) ?? [];
  if (fileId !== undefined) return { prefix, user, path: '', isFolder: false, fileId };
  const path = given.replace(/^\/+|\/+$/g, '').replace(/\/{2,}/g, '/');
  return { prefix, user, path, isFolder: path === '' || given.endsWith('/'), fileId: undefined };
}

export const describePlace = ({ prefix, path, fileId }: RemotePlace): string =>
  `${prefix}${fileId === undefined ? path : `#${fileId}`}`;

export const joinPath = (...parts: readonly string[]): string => parts.filter(Boolean).join('/');

export function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const at = path.lastIndexOf('/');
  return { folder: at < 0 ? '' : path.slice(0, at), name: path.slice(at + 1) };
}

/** Which files of a user a command works on: those of a space, those in no space, or all. */
export interface Holder {
  readonly user: UserResource;
  /** As the API filters by it; undefined for all. */
  readonly spaceId: string | undefined;
}

export const toHolder = (client: Client, place: RemotePlace, spaceId: string | undefined): Holder => ({
  user: client.user(place.user),
  spaceId,
});
