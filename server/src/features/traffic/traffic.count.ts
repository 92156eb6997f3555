// What is counted, and for whom. Requests count for the project that their credential belongs to; those that
// name an end-user, or come from its tokens, for that user as well; those of a space token also for its space.
import { type Actor, pinnedUserOf, type TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Amounts, CountKey } from '../../platform/counters/counters.ts';

type Counting = Pick<Deps, 'counters' | 'clock'>;

const answered: Amounts = { requests: 1 };
const downloaded: Amounts = { requests: 1, downloads: 1 };
const refused: Amounts = { requests: 1, errors: 1 };

/** Every request whose credential was accepted, also one that a guard refused afterwards. */
export function countRequest(
  deps: Counting,
  actor: Actor,
  userId: string | null,
  { failed, isDownload }: { readonly failed: boolean; readonly isDownload: boolean },
): void {
  if (actor.kind === 'admin') return;
  countFor(deps, actor, userId, failed ? refused : isDownload ? downloaded : answered);
}

/** Something that an actor did, to a user's files. */
export function countFor(
  deps: Counting,
  actor: TenantActor,
  pathUserId: string | null,
  amounts: Amounts,
): void {
  const { projectId } = actor;
  const day = dayOf(deps.clock());
  const keys: CountKey[] = [{ projectId, subjectId: projectId, day }];
  // A token is counted for its own user, whomever the path names.
  const userId = pinnedUserOf(actor) ?? pathUserId;
  if (userId !== null) keys.push({ projectId, subjectId: userId, day });
  if (actor.kind === 'space') keys.push({ projectId, subjectId: actor.spaceId, day });
  deps.counters.add(keys, amounts);
}

const dayMs = 86_400_000;
let known = { number: -1, text: '' };

/** The UTC date of a moment. Printing one costs more than the rest of counting, so the last is remembered. */
export function dayOf(milliseconds: number): string {
  const number = Math.floor(milliseconds / dayMs);
  if (known.number !== number) known = { number, text: new Date(number * dayMs).toISOString().slice(0, 10) };
  return known.text;
}
