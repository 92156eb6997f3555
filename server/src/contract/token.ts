// What the JWTs of Pakhus say. The database decides on every use whether it still holds.
import type { Scope } from './scope.ts';

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
  /** Null unless the token is well-formed, signed by us and not expired. */
  verify(token: string): Claims | null;
  /** Like `verify`, but accepts expired tokens: tells whose token it was. */
  recognise(token: string): Claims | null;
}
