// The scopes, and functions that compare sets of them.
import { Type } from '../kernel/schema.ts';
import { Choice } from './wire.ts';

export const scopes = [
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

export type Scope = (typeof scopes)[number];

/** The scopes of a credential; `*` is all of them. */
export type Grant = '*' | readonly Scope[];

export const ScopeList = Type.Array(Choice(scopes, { 'x-name': 'Scope' }), {
  maxItems: 32,
  description: 'Scopes; repeated ones count once.',
  examples: [['files:read', 'files:write']],
});

export const holds = (grant: Grant, scope: Scope): boolean => grant === '*' || grant.includes(scope);

export const isWithin = (wanted: readonly Scope[], grant: Grant): boolean =>
  wanted.every((scope) => holds(grant, scope));

/** The scopes in both: a delegated credential never has more than the one that made it. */
export const commonGrant = (wanted: readonly Scope[], ceiling: Grant): readonly Scope[] =>
  ceiling === '*' ? wanted : wanted.filter((scope) => ceiling.includes(scope));

/** A grant as a list, for tokens and responses. */
export const listScopes = (grant: Grant): Scope[] => (grant === '*' ? [...scopes] : [...grant]);

export const withoutRepeats = (list: readonly Scope[]): Scope[] => [...new Set(list)];
