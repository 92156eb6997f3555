// A client for the service that the profile or the environment names.
import { type Client, createClient } from '@pakhus/client/node';
import type { Context } from './frame/command.ts';
import { createLeanFetch } from './lean-fetch.ts';
import { findTarget, type Target } from './profiles.ts';

/** For commands that people wait for. */
const retriesFew = 2;
/** For transfers: a limit of requests may hold many of them back at once. */
export const retriesMany = 10;

export interface Connection {
  readonly client: Client;
  readonly target: Target;
  readonly credential: Credential;
}

export async function connect(
  { env, profile }: Pick<Context, 'env' | 'profile'>,
  retries = retriesFew,
): Promise<Connection> {
  const target = await findTarget(env, profile);
  const client = createClient({ baseUrl: target.url, key: target.key, retries, fetch: createLeanFetch() });
  return { client, target, credential: readCredential(target.key) };
}

export type CredentialKind = 'key' | 'session' | 'user token' | 'space token' | 'unknown';

/** What a credential says about itself. The service checks it. */
export interface Credential {
  readonly kind: CredentialKind;
  readonly userId: string | null;
  readonly spaceId: string | null;
  readonly scopes: readonly string[] | null;
  readonly expiresAt: string | null;
}

const roles: Readonly<Record<string, CredentialKind>> = {
  admin: 'session',
  project: 'session',
  user: 'user token',
  space: 'space token',
};

export function readCredential(key: string): Credential {
  const nothing = { userId: null, spaceId: null, scopes: null, expiresAt: null };
  if (key.startsWith('pak_')) return { kind: 'key', ...nothing };
  try {
    const claims = JSON.parse(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString());
    const { role, sub, uid, scopes, exp } = claims;
    return {
      kind: (Object.hasOwn(roles, role) && roles[role]) || 'unknown',
      userId: role === 'user' ? sub : role === 'space' ? uid : null,
      spaceId: role === 'space' ? sub : null,
      scopes: Array.isArray(scopes) ? scopes : null,
      expiresAt: typeof exp === 'number' ? new Date(exp * 1000).toISOString() : null,
    };
  } catch {
    return { kind: 'unknown', ...nothing };
  }
}
