// How long a file is kept: when it may expire, and until when it is held.
import type { TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { FileValues } from '../../contract/file.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';

type Keeping = Pick<FileValues, 'expires_at' | 'retain_until'>;

/** Throws if a caller may not change the one to the other. */
export function refuseKeeping(
  { clock }: Pick<Deps, 'clock'>,
  actor: TenantActor,
  before: Keeping,
  after: Keeping,
): void {
  if (after.expires_at !== before.expires_at) refusePast('expires_at', after.expires_at, clock());
  if (after.retain_until === before.retain_until) return;
  if (actor.kind !== 'project')
    throw new PakhusError('FORBIDDEN', 'Only the project owner may set retain_until: leave it out');
  refusePast('retain_until', after.retain_until, clock());
  if (isEarlier(after.retain_until, before.retain_until))
    throw invalid(422, [
      {
        path: 'retain_until',
        message: `must not be earlier than ${before.retain_until}: a hold is never shortened`,
        code: 'minimum',
      },
    ]);
}

function refusePast(path: string, time: string | null, nowMs: number): void {
  if (time !== null && Date.parse(time) <= nowMs)
    throw invalid(422, [{ path, message: 'must be a time to come', code: 'minimum' }]);
}

const isEarlier = (time: string | null, than: string | null): boolean =>
  than !== null && (time === null || Date.parse(time) < Date.parse(than));

/** For a change that a hold forbids. */
export const fileHeld = (what: string, until: string | null = null) =>
  new PakhusError(
    'LOCKED',
    until === null
      ? `${what} is held by retain_until: try again when the hold has ended`
      : `${what} is held until ${until}: it cannot be deleted before`,
    { details: until === null ? {} : { retain_until: until } },
  );
