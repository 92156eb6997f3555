// Signs and verifies JWTs: HS256 only. The only file that knows fast-jwt.
import { createSigner, createVerifier } from 'fast-jwt';
import { scopes } from '../../contract/scope.ts';
import type { Claims, TokenRole, TokenSigner } from '../../contract/token.ts';
import { type Clock, secondsOf } from '../../kernel/clock.ts';
import { isUuid, newId } from '../../kernel/id.ts';

const roles: ReadonlySet<unknown> = new Set<TokenRole>([
  'admin',
  'project',
  'user',
  'space',
  '2fa_challenge',
]);
const tokenLengthMax = 4096;
/**
 * Size of the cache of verified signatures. Only the signature is cached: expiry is checked on every call, revocation by
 * the database.
 */
const verifiedMax = 1000;

/** Signs with `secret`; tokens signed with `previousSecret` stay valid. */
export function createTokenSigner(
  secret: string,
  clock: Clock,
  previousSecret: string | null = null,
): TokenSigner {
  const sign = createSigner({ key: secret, algorithm: 'HS256' });
  const verify = buildVerifier(secret);
  const verifyPrevious = previousSecret === null ? () => null : buildVerifier(previousSecret);
  const verified = new Map<string, Claims>();
  const verifyClaims = (token: string): Claims | null => {
    const payload = verify(token) ?? verifyPrevious(token);
    const claims = payload && parseClaims(payload);
    if (claims) remember(verified, token, claims);
    return claims;
  };
  const recognise = (token: string): Claims | null =>
    token.length > tokenLengthMax ? null : (verified.get(token) ?? verifyClaims(token));
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

function remember(verified: Map<string, Claims>, token: string, claims: Claims): void {
  const [oldest] = verified.keys();
  if (verified.size >= verifiedMax && oldest !== undefined) verified.delete(oldest);
  verified.set(token, claims);
}

type Payload = Record<string, unknown>;

/** The verifier returns null for a bad signature. Expiry is checked elsewhere, against our own clock. */
function buildVerifier(secret: string): (token: string) => Payload | null {
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

/** Null if a claim is missing or malformed, even with a valid signature. */
function parseClaims(payload: Record<string, unknown>): Claims | null {
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
