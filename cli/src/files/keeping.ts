// How long files are kept: when they go by themselves, and until when nobody can delete them.
import type { Client, StoredFile } from '@pakhus/client/node';
import { CommandError } from '../frame/failure.ts';
import type { Holder } from './place.ts';
import { isForbidden } from './remote.ts';
import type { FileFacts } from './send.ts';

type Keeping = Pick<FileFacts, 'expires_at' | 'retain_until'>;

export const hasKeeping = ({ expires_at, retain_until }: Keeping): boolean =>
  expires_at !== undefined || retain_until !== undefined;

/** A hold can only become longer, so a later one stays. */
function findChanges(file: Keeping, wanted: Keeping): Keeping {
  const { expires_at, retain_until } = wanted;
  return {
    ...(expires_at !== undefined && toMs(file.expires_at) !== toMs(expires_at) && { expires_at }),
    ...(retain_until !== undefined && toMs(file.retain_until) < toMs(retain_until) && { retain_until }),
  };
}

const toMs = (time: string | undefined): number => (time === undefined ? 0 : Date.parse(time));

/** Sends nothing if the file is kept that way already. */
export async function keep(
  { user }: Holder,
  file: StoredFile,
  wanted: Keeping,
  signal: AbortSignal,
): Promise<void> {
  const changes = findChanges(file, wanted);
  if (hasKeeping(changes)) await user.files.update(file.id, changes, { signal });
}

/** Asked before anything is sent, by what only the owner may read: a copy that cannot be held must not be left behind. */
export async function refuseHold(
  client: Client,
  { retain_until }: Keeping,
  signal: AbortSignal,
): Promise<void> {
  if (retain_until === undefined) return;
  await client.project.settings.get({ signal }).catch((error) => {
    if (!isForbidden(error)) throw error;
    throw new CommandError(
      'notAllowed',
      'Only the owner of the project may hold files: use a key of the project, or leave --retain out',
    );
  });
}
