// The client: every route of the API as a method, under the name of what it works on.
import { PakhusError } from './error.ts';
import { type CallOptions, type ClientOptions, createHttp, type Http, type PathPart } from './http.ts';
import { adminOf } from './resources/admin.ts';
import { authOf } from './resources/auth.ts';
import { filesOf, uploadsOf } from './resources/files.ts';
import { jobsOf, projectOf, spacesOf, usersOf } from './resources/project.ts';
import { type UserResource, userResource } from './resources/user.ts';
import type { Learnt } from './upload/job.ts';

/** Your own id of a user, or the user as Pakhus knows it: its object, or `{ id }`. */
export type UserReference = string | { readonly id: string };

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const http = createHttp(options);
  const learnt: Learnt = { isDirectWorthwhile: true };
  return {
    users: usersOf(http),
    /** One end user. Without an argument: the one whose token this client has. */
    user: (reference?: UserReference): UserResource => userResource(http, toPath(http, reference), learnt),
    project: projectOf(http),
    spaces: spacesOf(http),
    jobs: jobsOf(http),
    admin: adminOf(http),
    auth: authOf(http),
    health: (call?: CallOptions) => http.call('GET /health', call),
  };
}

/** The part of a `UserResource` that a file browser needs. */
export interface FilesClient extends Pick<UserResource, 'uploads' | 'storage'> {
  readonly files: ReturnType<typeof filesOf>;
}

/** With what other resources of the same user are made of, by modules that are loaded later. */
export interface ExtensibleFilesClient extends FilesClient {
  readonly http: Http;
  readonly path: PathPart;
  /** Of the token, as far as it tells. */
  scopes(): Promise<unknown>;
}

/** The part of `createClient(options).user(reference)` that a file browser needs: bundlers leave out the rest. */
export function createFilesClient(options: ClientOptions, reference?: UserReference): ExtensibleFilesClient {
  const http = createHttp(options);
  const user = toPath(http, reference);
  return {
    http,
    path: user,
    scopes: async () => readClaims(await http.credential()).scopes,
    files: filesOf(http, user, { isDirectWorthwhile: true }),
    uploads: uploadsOf(http, user),
    storage: (call) => http.call('GET /project/users/{userId}/storage', { params: [user], ...call }),
  };
}

function toPath(http: Http, reference?: UserReference): PathPart {
  if (reference === undefined) return async () => readUserId(await http.credential());
  return () =>
    typeof reference === 'string' ? `ext/${encodeURIComponent(reference)}` : encodeURIComponent(reference.id);
}

/** From the claims of a user or space token. */
function readUserId(token?: string): string {
  const { role, sub = '', uid = '' } = readClaims(token);
  if (role === 'user') return sub;
  if (role === 'space') return uid;
  throw new PakhusError(
    'INVALID_ARGUMENT',
    'This credential belongs to no user: name one, as in client.user(id)',
  );
}

interface Claims {
  readonly role?: string;
  readonly sub?: string;
  readonly uid?: string;
  readonly scopes?: unknown;
}

/** Without checking them, which is up to the server. Empty for what is not a token. */
function readClaims(token = ''): Claims {
  try {
    const [, claims = ''] = token.split('.');
    return JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) ?? {};
  } catch {
    return {};
  }
}
