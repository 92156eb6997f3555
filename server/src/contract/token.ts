// The JWTs that Pakhus signs. HS256 only; what a token says is checked against the database on every use.
import { createSigner, createVerifier } from 'fast-jwt';
import { type Clock, secondsOf } from '../kernel/clock.ts';
import { isUuid, newId } from '../kernel/id.ts';
import { type Scope, scopes } from './scope.ts';

export type TokenRole = 'admin' | 'project' | 'user' | 'space' | '2fa_challenge';

export interface Claims {
  readonly sub: string;
  readonly role: TokenRole;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  /** Project. */
  readonly pid: string | null;
  /** Owner of a space. */
  readonly uid: string | null;
  /** Integration that minted it. */
  readonly iid: string | null;
  /** API key that minted it: the token ends with the key. Null when a session minted it. */
  readonly akid: string | null;
  readonly scopes: readonly Scope[];
}

export interface NewClaims {
  readonly sub: string;
  readonly role: TokenRole;
  readonly ttlMs: number;
  readonly pid?: string | null;
  readonly uid?: string;
  readonly iid?: string | null;
  readonly akid?: string | null;
  readonly scopes?: readonly Scope[];
}

export interface SignedToken {
  readonly token: string;
  readonly jti: string;
  readonly expiresAtMs: number;
}

export interface TokenSigner {
  sign(claims: NewClaims): SignedToken;
  /** Null for everything that is not a live, well-formed token of ours. */
  verify(token: string): Claims | null;
  /** The same for one that may have expired: whose it was, for those who are told so. */
  recognise(token: string): Claims | null;
}

const roles: ReadonlySet<unknown> = new Set<TokenRole>([
  'admin',
  'project',
  'user',
  'space',
  '2fa_challenge',
]);
const tokenLengthMax = 4096;
/**
 * Tokens whose signature was checked not long ago. Only that is remembered: a signature stays true, while
 * expiry is judged anew every time and revocation is the database's to say.
 */
const genuineMax = 1000;

/** Tokens that `previousSecret` has signed are still good; new ones are signed with `secret`. */
export function createTokenSigner(
  secret: string,
  clock: Clock,
  previousSecret: string | null = null,
): TokenSigner {
  const sign = createSigner({ key: secret, algorithm: 'HS256' });
  const verify = verifierOf(secret);
  const verifyPrevious = previousSecret === null ? () => null : verifierOf(previousSecret);
  const genuine = new Map<string, Claims>();
  const claimsOf = (token: string): Claims | null => {
    const payload = verify(token) ?? verifyPrevious(token);
    const claims = payload && readClaims(payload);
    if (claims) remember(genuine, token, claims);
    return claims;
  };
  const recognise = (token: string): Claims | null =>
    token.length > tokenLengthMax ? null : (genuine.get(token) ?? claimsOf(token));
  return {
    sign({ ttlMs, ...given }) {
      const jti = newId();
      const iat = secondsOf(clock());
      const exp = iat + Math.ceil(ttlMs / 1000);
      const present = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
      );
      return { token: sign({ ...present, jti, iat, exp }), jti, expiresAtMs: exp * 1000 };
    },
    recognise,
    verify(token) {
      const claims = recognise(token);
      return claims && claims.exp > clock() / 1000 ? claims : null;
    },
  };
}

function remember(genuine: Map<string, Claims>, token: string, claims: Claims): void {
  const [oldest] = genuine.keys();
  if (genuine.size >= genuineMax && oldest !== undefined) genuine.delete(oldest);
  genuine.set(token, claims);
}

type Payload = Record<string, unknown>;

/** Null for a token that the secret has not signed. Expiry is judged by our own clock. */
function verifierOf(secret: string): (token: string) => Payload | null {
  const verify = createVerifier({ key: secret, algorithms: ['HS256'], ignoreExpiration: true, cache: false });
  return (token) => {
    try {
      const payload: unknown = verify(token);
      return typeof payload === 'object' && payload !== null ? (payload as Payload) : null;
    } catch {
      return null;
    }
  };
}

/** A token without its subject, id or expiry is refused, however well it is signed. */
function readClaims(payload: Record<string, unknown>): Claims | null {
  const { sub, role, jti, iat, exp, pid = null, uid = null, iid = null, akid = null } = payload;
  const { scopes: list = [] } = payload;
  const wellFormed =
    isUuid(sub) &&
    isUuid(jti) &&
    roles.has(role) &&
    Number.isFinite(iat) &&
    Number.isFinite(exp) &&
    [pid, uid, iid, akid].every((id) => id === null || isUuid(id)) &&
    Array.isArray(list);
  if (!wellFormed) return null;
  const known = scopes.filter((scope) => (list as unknown[]).includes(scope));
  return { sub, role, jti, iat, exp, pid, uid, iid, akid, scopes: known } as Claims;
}
