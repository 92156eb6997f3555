// Counts requests and file operations: for the project of the credential, for the end-user that the path names or the
// token belongs to, and for the space of a space token.
import { type Actor, pinnedUserOf, type TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Amounts, CountKey } from '../../platform/counters/counters.ts';

type Counting = Pick<Deps, 'counters' | 'clock'>;

const answered: Amounts = { requests: 1 };
const downloaded: Amounts = { requests: 1, downloads: 1 };
const refused: Amounts = { requests: 1, errors: 1 };

/** Every request with a valid credential, even if a guard refused it. */
export function countRequest(
  deps: Counting,
  actor: Actor,
  userId: string | null,
  { failed, isDownload }: { readonly failed: boolean; readonly isDownload: boolean },
): void {
  if (actor.kind === 'admin') return;
  countFor(deps, actor, userId, failed ? refused : isDownload ? downloaded : answered);
}

export function countFor(
  deps: Counting,
  actor: TenantActor,
  pathUserId: string | null,
  amounts: Amounts,
): void {
  const { projectId } = actor;
  const day = dayOf(deps.clock());
  const keys: CountKey[] = [{ projectId, subjectId: projectId, day }];
  // A token counts for its own user, whatever the path says.
  const userId = pinnedUserOf(actor) ?? pathUserId;
  if (userId !== null) keys.push({ projectId, subjectId: userId, day });
  if (actor.kind === 'space') keys.push({ projectId, subjectId: actor.spaceId, day });
  deps.counters.add(keys, amounts);
}

/** A file that arrived by the URL of an upload, which names no caller. */
export function countStored(deps: Counting, projectId: string, userId: string, bytes: number): void {
  const day = dayOf(deps.clock());
  const keys = [projectId, userId].map((subjectId) => ({ projectId, subjectId, day }));
  deps.counters.add(keys, { uploads: 1, bytes_in: bytes });
}

/** A download by the link of a share, which names no caller. */
export function countShared(deps: Counting, projectId: string, userId: string): void {
  const day = dayOf(deps.clock());
  const keys = [projectId, userId].map((subjectId) => ({ projectId, subjectId, day }));
  deps.counters.add(keys, { downloads: 1 });
}

const dayMs = 86_400_000;
let cachedDay = { number: -1, text: '' };

/** The UTC date of a timestamp. Cached, because formatting costs more than the rest of counting. */
export function dayOf(milliseconds: number): string {
  const number = Math.floor(milliseconds / dayMs);
  if (cachedDay.number !== number)
    cachedDay = { number, text: new Date(number * dayMs).toISOString().slice(0, 10) };
  return cachedDay.text;
}
