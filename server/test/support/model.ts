// A model of Pakhus small enough to understand at once: tenants, their contents, and who may do what. It
// knows no SQL, no HTTP and none of the service's modules.

export const allScopes = [
  'users:read',
  'users:write',
  'files:read',
  'files:write',
  'files:delete',
  'plans:read',
  'plans:assign',
  'stats:read',
  'spaces:login',
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
  readonly owner: User;
  space: Space | null;
  readonly size: number;
  readonly sha256: string;
  readonly mimeType: string;
  folder: string;
  tags: readonly string[];
  visibility: 'private' | 'public';
  /** The compression job of an image; `isDone` once a caller was told so. */
  readonly job: { readonly id: string; isDone: boolean } | null;
}

export interface Integration {
  readonly id: string;
  key: string;
  scopes: readonly Scope[];
  active: boolean;
  gone: boolean;
}

/** Everything that was ever a credential: the test keeps using credentials that have ended. */
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
  readonly integrations: Integration[];
  readonly credentials: Credential[];
  /** Failed logins of each space since its last success, by external id. */
  readonly failures: Map<string, number>;
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
    integrations: [],
    credentials: [],
    failures: new Map(),
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

export const usedBy = (files: readonly StoredFile[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

export const allows = ({ allowedMimes }: Plan, type: string): boolean =>
  allowedMimes.length === 0 || allowedMimes.some((one) => one === type || one === `${type.split('/')[0]}/*`);

/** The result of an upload that passed the guards: its status, or its code if several share the status. */
export function outcomeOfUpload(
  project: Project,
  user: User,
  space: Space | 'unknown' | null,
  size: number,
  type: string,
): 201 | 403 | 404 | string {
  const plan = planInForce(project, user);
  const room = (plan?.storageLimit ?? Number.POSITIVE_INFINITY) - usedBy(filesOf(project, user));
  if (!user.active) return 403;
  if (space === 'unknown') return 404;
  if (space && !space.active) return 403;
  if (plan && !allows(plan, type)) return 'MIME_NOT_ALLOWED';
  if (plan && size > plan.maxFileSize) return 'FILE_TOO_LARGE';
  // A user over quota has no room, not even for an empty file.
  if (size > Math.max(0, room)) return 'STORAGE_LIMIT_EXCEEDED';
  if (room < size) return 'STORAGE_LIMIT_EXCEEDED';
  if (space && space.limit !== null) {
    const used = usedBy(project.files.filter((file) => file.space === space));
    if (used + size > space.limit) return 'STORAGE_LIMIT_EXCEEDED';
  }
  if (filesOf(project, user).length >= (plan?.maxFiles ?? Number.POSITIVE_INFINITY)) return 'OVER_QUOTA';
  return 201;
}

export const hasAllSpaces = (project: Project, user: User): boolean =>
  project.spaces.filter((space) => !space.gone && space.owner === user).length >=
  (planInForce(project, user)?.maxSpaces ?? Number.POSITIVE_INFINITY);
