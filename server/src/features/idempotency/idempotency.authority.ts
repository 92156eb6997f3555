// What a caller could do. An answer may hold what only its first caller could obtain, such as a token with all its scopes,
// so a repetition gets it only from a caller that can do as much.
import { type Actor, grantOf, pinnedSpaceOf } from '../../contract/actor.ts';
import { type Grant, isWithin } from '../../contract/scope.ts';

export interface Authority {
  readonly grant: Grant;
  /** The only space that the caller sees, or null for all. */
  readonly space: string | null;
}

export const authorityOf = (actor: Actor): Authority => ({
  grant: grantOf(actor),
  space: pinnedSpaceOf(actor),
});

export function covers(mine: Authority, first: Authority): boolean {
  const mayAsMuch = first.grant === '*' ? mine.grant === '*' : isWithin(first.grant, mine.grant);
  return mayAsMuch && (mine.space === null || mine.space === first.space);
}
