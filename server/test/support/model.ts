// A model of Pakhus small enough to understand at once: tenants, their contents, and who may do what. It
// knows no SQL, no HTTP and none of the service's modules.
import { sha256 } from './bytes.ts';
import type { ShownEvent } from './feed.ts';

export const allScopes = [
  'users:read',
  'users:write',
  'files:read',
  'files:write',
  'files:delete',
  'files:share',
  'plans:read',
  'plans:assign',
  'stats:read',
  'spaces:login',
  'events:read',
] as const;

export type Scope = (typeof allScopes)[number];

export interface Plan {
  readonly id: string;
  readonly createdAt: string;
  storageLimit: number | null;
  maxFileSize: number;
  allowedMimes: readonly string[];
  maxFiles: number | null;
  maxSpaces: number | null;
  isDefault: boolean;
}

export interface User {
  readonly id: string;
  readonly externalId: string;
  gone: boolean;
  active: boolean;
  plan: Plan | null;
  /** Over all days; undefined until the first file is stored. */
  usage?: { bytes_max: number; uploads: number; bytes_in: number };
}

export interface Space {
  readonly id: string;
  readonly externalId: string;
  readonly owner: User;
  gone: boolean;
  active: boolean;
  scopes: readonly Scope[];
  limit: number | null;
  password: string | null;
  /** The scopes of the credential that set the password. */
  setterGrant: readonly Scope[];
  session: string | null;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly content: Buffer;
  readonly owner: User;
  space: Space | null;
  readonly size: number;
  readonly sha256: string;
  /** Once a caller was shown the sha256. Until a worker has read it, that of a direct upload is null. */
  isHashed: boolean;
  readonly mimeType: string;
  folder: string;
  tags: readonly string[];
  visibility: 'private' | 'public';
  /** The compression job of an image; `isDone` once a caller was told so. */
  readonly job: { readonly id: string; isDone: boolean } | null;
  /** In the trash it counts, and is nowhere to be seen. */
  trashed?: boolean;
  /** By `retain_until`: until that has passed, nothing deletes it. */
  isHeld?: boolean;
  /** Its `expires_at` has passed, and only a hold keeps it. */
  isDue?: boolean;
  /** If it can be decoded as an image; the compression of a job keeps its size. */
  readonly picture?: Pixels;
}

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** How images of the project can be read. */
export interface Variant {
  readonly name: string;
  version: number;
  recipe: Recipe;
}

export interface Recipe {
  readonly format: string;
  readonly quality: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly fit: 'inside' | 'cover';
}

export interface Share {
  readonly id: string;
  readonly file: StoredFile;
  /** Of its page. */
  readonly url: string;
  max: number | null;
  password: string | null;
  active: boolean;
  isExpired: boolean;
  downloads: number;
  gone: boolean;
}

export interface Upload {
  readonly id: string;
  readonly owner: User;
  readonly space: Space | null;
  readonly mode: 'resumable' | 'direct';
  status: 'uploading' | 'completed' | 'failed' | 'expired' | 'cancelled';
  /** Null until the client has declared it. */
  size: number | null;
  offset: number;
  readonly content: Buffer;
  /** As the client declared it, if it did. */
  readonly sha256: string | null;
  readonly mimeType: string;
  readonly folder: string;
  readonly visibility: 'private' | 'public';
  readonly madeWith: Credential;
  /** Of the URL that takes the bytes; null if it is direct. */
  readonly path: string | null;
  /** Of the first part of a direct upload, as its creation gave it. */
  readonly firstUrl: string | null;
  etag: string | null;
  fileId: string | null;
  /** The code, if it failed. */
  error: string | null;
}

export interface Integration {
  readonly id: string;
  key: string;
  scopes: readonly Scope[];
  active: boolean;
  gone: boolean;
}

/** Everything that was ever a credential: the test keeps using credentials that have ended. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  types: readonly string[] | null;
  gone: boolean;
}

export type Credential = { readonly text: string } & (
  | { readonly kind: 'key'; readonly id: string; live: boolean }
  | { readonly kind: 'session'; live: boolean }
  | { readonly kind: 'integration'; readonly of: Integration }
  | {
      readonly kind: 'user';
      readonly jti: string;
      readonly user: User;
      readonly scopes: readonly Scope[];
      readonly madeWith: Credential;
      revoked: boolean;
    }
  | {
      readonly kind: 'space';
      readonly jti: string;
      readonly space: Space;
      readonly madeWith: Credential;
    }
);

export interface Project {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  gone: boolean;
  active: boolean;
  readonly plans: Plan[];
  readonly users: User[];
  readonly spaces: Space[];
  readonly files: StoredFile[];
  readonly uploads: Upload[];
  readonly shares: Share[];
  readonly integrations: Integration[];
  readonly webhooks: Webhook[];
  readonly variants: Variant[];
  readonly credentials: Credential[];
  /** Failed logins of each space since its last success, by external id. */
  readonly failures: Map<string, number>;
  trashDays: number;
  /** Events of changes that the audit log has one row of for many files. */
  readonly toldOfFolders: string[];
  /** Its feed, read from its first change on. */
  feed: { readonly cursor: string; readonly events: readonly ShownEvent[] };
}

export type CallerKind = 'nobody' | 'admin' | 'project' | 'integration' | 'user' | 'space';

export interface Caller {
  readonly kind: CallerKind;
  readonly text: string | undefined;
  readonly project: Project | null;
  readonly credential: Credential | null;
  readonly grant: readonly Scope[];
  /** The end-user that a delegated token is confined to. */
  readonly pinned: User | null;
  readonly space: Space | null;
  /** The status that every request of this caller gets, whatever it asks for. */
  readonly refusal: 401 | 403 | null;
}

export function newProject(id: string, email: string, password: string): Project {
  return {
    id,
    email,
    password,
    gone: false,
    active: true,
    plans: [],
    users: [],
    spaces: [],
    files: [],
    uploads: [],
    shares: [],
    integrations: [],
    webhooks: [],
    variants: [],
    credentials: [],
    failures: new Map(),
    trashDays: 0,
    toldOfFolders: [],
    feed: { cursor: '', events: [] },
  };
}

export function callerOf(project: Project, credential: Credential): Caller {
  const delegated = credential.kind === 'user' || credential.kind === 'space';
  return {
    kind: credential.kind === 'key' || credential.kind === 'session' ? 'project' : credential.kind,
    text: credential.text,
    project,
    credential,
    grant: grantOf(credential),
    pinned: delegated ? (credential.kind === 'user' ? credential.user : credential.space.owner) : null,
    space: credential.kind === 'space' ? credential.space : null,
    refusal: refusalOf(project, credential),
  };
}

function grantOf(credential: Credential): readonly Scope[] {
  switch (credential.kind) {
    case 'integration':
      return credential.of.scopes;
    case 'user':
      return credential.scopes.filter((scope) => grantOf(credential.madeWith).includes(scope));
    case 'space':
      return credential.space.scopes;
    default:
      return allScopes;
  }
}

function refusalOf(project: Project, credential: Credential): 401 | 403 | null {
  if (project.gone || !isLive(credential)) return 401;
  return project.active ? null : 403;
}

const isThere = (user: User): boolean => user.active && !user.gone;

/** Whether it would be accepted in an active project. */
export function isLive(credential: Credential): boolean {
  switch (credential.kind) {
    case 'integration':
      return credential.of.active && !credential.of.gone && credential.of.key === credential.text;
    case 'user':
      return isThere(credential.user) && !credential.revoked && keyStands(credential.madeWith);
    case 'space': {
      const { space, jti, madeWith } = credential;
      return (
        space.session === jti && space.active && !space.gone && isThere(space.owner) && keyStands(madeWith)
      );
    }
    default:
      return credential.live;
  }
}

/** Tokens end with the key that minted them, but outlive the session that minted them. */
const keyStands = (credential: Credential): boolean => credential.kind === 'session' || isLive(credential);

export const defaultPlanOf = ({ plans }: Project): Plan | null =>
  plans.find((plan) => plan.isDefault) ?? null;

/** A user without a plan is under the default plan. */
export const planInForce = (project: Project, user: User): Plan | null => user.plan ?? defaultPlanOf(project);

export const filesOf = ({ files }: Project, user: User): StoredFile[] =>
  files.filter((file) => file.owner === user);

/** A file that was stored just now. */
export function storeFile(project: Project, file: StoredFile): void {
  project.files.push(file);
  const { owner, size } = file;
  const { bytes_max, uploads, bytes_in } = owner.usage ?? { bytes_max: 0, uploads: 0, bytes_in: 0 };
  owner.usage = {
    bytes_max: Math.max(bytes_max, usedBy(filesOf(project, owner))),
    uploads: uploads + 1,
    bytes_in: bytes_in + size,
  };
}

/** Whether those who own the file see the share. */
export const isShared = ({ files }: Project, { file, gone }: Share): boolean =>
  !gone && !file.trashed && files.includes(file);

/** Whether its link leads to anything. */
export const isOpen = (project: Project, share: Share): boolean =>
  isShared(project, share) &&
  project.active &&
  isThere(share.file.owner) &&
  (share.file.space?.active ?? true) &&
  share.active &&
  !share.isExpired;

export const isUsedUp = ({ downloads, max }: Share): boolean => max !== null && downloads >= max;

export const usedBy = (files: readonly StoredFile[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

export const allows = ({ allowedMimes }: Plan, type: string): boolean =>
  allowedMimes.length === 0 || allowedMimes.some((one) => one === type || one === `${type.split('/')[0]}/*`);

/** Unfinished uploads of a user or into a space. An upload of unknown length reserves what has arrived. */
export const reservedBy = ({ uploads }: Project, whose: User | Space): number =>
  unfinishedOf(uploads, whose).reduce((sum, { size, offset }) => sum + (size ?? offset), 0);

const unfinishedOf = (uploads: readonly Upload[], whose: User | Space): Upload[] =>
  uploads.filter(
    ({ status, owner, space }) => status === 'uploading' && (owner === whose || space === whose),
  );

/** What is left for the user and in the space; negative if a limit was lowered. */
function roomOf(project: Project, user: User, space: Space | null): number {
  const left = (limit: number | null | undefined, files: readonly StoredFile[], whose: User | Space) =>
    (limit ?? Number.POSITIVE_INFINITY) - usedBy(files) - reservedBy(project, whose);
  const ofUser = left(planInForce(project, user)?.storageLimit, filesOf(project, user), user);
  if (!space) return ofUser;
  const inSpace = project.files.filter((file) => file.space === space);
  return Math.min(ofUser, left(space.limit, inSpace, space));
}

const largestFile = (plan: Plan | null): number => plan?.maxFileSize ?? Number.POSITIVE_INFINITY;

const filesMax = (plan: Plan | null): number => plan?.maxFiles ?? Number.POSITIVE_INFINITY;

/** The result of bringing files of one user back from the trash, where they are charged already: all of them, or none. */
export function outcomeOfRestore(
  project: Project,
  owner: User,
  files: readonly StoredFile[],
): 200 | 403 | string {
  const plan = planInForce(project, owner);
  if (!owner.active) return 403;
  if (files.some(({ space }) => space && !space.active)) return 403;
  for (const { size, mimeType } of [...files].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (plan && !allows(plan, mimeType)) return 'MIME_NOT_ALLOWED';
    if (size > largestFile(plan)) return 'FILE_TOO_LARGE';
  }
  if (files.some(({ space }) => roomOf(project, owner, space) < 0)) return 'STORAGE_LIMIT_EXCEEDED';
  return filesOf(project, owner).length > filesMax(plan) ? 'OVER_QUOTA' : 200;
}

/** The result of storing copies for a user: all of them, or none. They are known by their sizes, types and spaces. */
export function outcomeOfCopies(
  project: Project,
  owner: User,
  copies: readonly StoredFile[],
): 200 | 403 | 404 | string {
  const plan = planInForce(project, owner);
  if (!owner.active) return 403;
  // What is wrong with one of them is told first, then whether one after the other finds its place.
  for (const { size, mimeType } of copies) {
    if (plan && !allows(plan, mimeType)) return 'MIME_NOT_ALLOWED';
    if (size > largestFile(plan)) return 'FILE_TOO_LARGE';
    if (size > Math.max(0, roomOf(project, owner, null))) return 'STORAGE_LIMIT_EXCEEDED';
  }
  const after = { ...project, files: [...project.files] };
  for (const copy of copies) {
    const outcome = outcomeOfUpload(after, owner, copy.space, copy.size, copy.mimeType);
    if (outcome !== 201) return outcome;
    after.files.push(copy);
  }
  return 200;
}

/** The result of an upload that passed the guards: its status, or its code if several share the status. */
export function outcomeOfUpload(
  project: Project,
  user: User,
  space: Space | 'unknown' | null,
  size: number,
  type: string,
): 201 | 403 | 404 | string {
  const plan = planInForce(project, user);
  if (!user.active) return 403;
  if (space === 'unknown') return 404;
  if (space && !space.active) return 403;
  if (plan && !allows(plan, type)) return 'MIME_NOT_ALLOWED';
  if (size > largestFile(plan)) return 'FILE_TOO_LARGE';
  // A user over quota has no room, not even for an empty file.
  if (size > roomOf(project, user, space)) return 'STORAGE_LIMIT_EXCEEDED';
  if (filesOf(project, user).length >= filesMax(plan)) return 'OVER_QUOTA';
  return 201;
}

/** The same for an upload that survives: those that are on their way count as files. */
export function outcomeOfCreation(...upload: Parameters<typeof outcomeOfUpload>): 201 | 403 | 404 | string {
  const [project, user] = upload;
  const outcome = outcomeOfUpload(...upload);
  if (outcome !== 201) return outcome;
  const files = filesOf(project, user).length + unfinishedOf(project.uploads, user).length;
  return files >= filesMax(planInForce(project, user)) ? 'OVER_QUOTA' : 201;
}

/** Whether whoever created the upload could still upload there: otherwise its URLs are dead. */
export const isAlive = (project: Project, { owner, space, madeWith }: Upload): boolean =>
  project.active && isThere(owner) && (!space || (space.active && !space.gone)) && keyStands(madeWith);

/** Whether the URL of the upload answers. */
export const isReachable = (project: Project, upload: Upload): boolean =>
  ['uploading', 'completed'].includes(upload.status) && isAlive(project, upload);

export interface Chunk {
  readonly at: number;
  readonly bytes: number;
  /** The length of the file, as the request declares it. */
  readonly declared: number | null;
}

/** The result of sending bytes to the URL of an upload, before it is completed. Unless it is 204, nothing has changed. */
export function outcomeOfChunk(
  project: Project,
  upload: Upload,
  chunk: Chunk,
): 204 | 400 | 404 | 409 | 413 | string {
  const { at, bytes, declared } = chunk;
  const { owner, space, offset } = upload;
  if (!isReachable(project, upload)) return 404;
  if (upload.status === 'completed') return at === upload.size && bytes === 0 ? 204 : 409;
  if (at !== offset) return 409;
  if (upload.size !== null && at + bytes > upload.size) return 413;
  if (upload.size !== null) return declared === null || declared === upload.size ? 204 : 400;
  const fileMax = largestFile(planInForce(project, owner));
  const room = roomOf(project, owner, space);
  if (declared === null) {
    if (bytes === 0 || bytes <= Math.min(fileMax - offset, room)) return 204;
    return fileMax - offset <= room ? 'FILE_TOO_LARGE' : 'STORAGE_LIMIT_EXCEEDED';
  }
  if (declared < at + bytes) return 413;
  if (declared > fileMax) return 'FILE_TOO_LARGE';
  // What has arrived is reserved already.
  return declared - offset > Math.max(0, room) ? 'STORAGE_LIMIT_EXCEEDED' : 204;
}

/** The result of completing an upload whose bytes are all there: 201, or the code with which it fails. */
export function outcomeOfCompletion(project: Project, { owner, space, ...upload }: Upload): 201 | string {
  const plan = planInForce(project, owner);
  if (upload.content.length > largestFile(plan)) return 'FILE_TOO_LARGE';
  if (upload.sha256 !== null && upload.sha256 !== sha256(upload.content)) return 'VALIDATION_ERROR';
  if (plan && !allows(plan, upload.mimeType)) return 'MIME_NOT_ALLOWED';
  // Its own bytes are among the reserved ones.
  if (roomOf(project, owner, space) < 0) return 'STORAGE_LIMIT_EXCEEDED';
  return filesOf(project, owner).length >= filesMax(plan) ? 'OVER_QUOTA' : 201;
}

/** The result of asking to complete a direct upload: 200 if it is completed already, a code if it fails now. */
export function outcomeOfDirect(project: Project, upload: Upload, etag: string): number | string {
  const { mode, status, size } = upload;
  if (mode === 'direct' && status === 'completed') return 200;
  if (mode !== 'direct' || status !== 'uploading') return 409;
  if (!isAlive(project, upload)) return 409;
  if (size !== 0 && etag !== upload.etag) return 422;
  return outcomeOfCompletion(project, upload);
}

export const hasAllSpaces = (project: Project, user: User): boolean =>
  project.spaces.filter((space) => !space.gone && space.owner === user).length >=
  (planInForce(project, user)?.maxSpaces ?? Number.POSITIVE_INFINITY);

const usualQuality = 80;

/** What a recipe becomes by a change that the caller has sent; null if that leaves it without the sides that it needs. */
export function changedRecipe(
  before: Recipe,
  change: { readonly [Field in keyof Recipe]?: Recipe[Field] | null | undefined },
): Recipe | null {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const after: Recipe = { ...before, ...given };
  const { width, height, fit } = after;
  if (width === null && height === null) return null;
  if (fit === 'cover' && (width === null || height === null)) return null;
  return { ...after, quality: after.quality ?? usualQuality };
}

export const isSameRecipe = (one: Recipe, other: Recipe): boolean =>
  Object.entries(one).every(([field, value]) => other[field as keyof Recipe] === value);

/** Of the image of a picture by a recipe. `inside` never enlarges. */
export function pixelsOf(picture: Pixels, { width, height, fit }: Recipe): Pixels {
  if (fit === 'cover') return { width: width ?? 0, height: height ?? 0 };
  const scale = Math.min(1, (width ?? Infinity) / picture.width, (height ?? Infinity) / picture.height);
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  return { width: scaled(picture.width), height: scaled(picture.height) };
}
