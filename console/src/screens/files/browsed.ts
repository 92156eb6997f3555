// A user as the file browser sees it here: many files are deleted by one request, and a hold is told in the console's words.
import { PakhusError } from '@pakhus/client';
import type { BrowsedUser } from '../../browser/state/browsed-user.ts';
import { client } from '../../frame/api.ts';
import { runBatch } from '../../frame/delivery.ts';
import { describeError } from '../../ui/error-note.tsx';

export function browse(userId: string): BrowsedUser {
  const user = client.user({ id: userId });
  const { files } = user;
  return {
    ...user,
    files: { ...files, delete: (...given) => files.delete(...given).catch(retell) },
    deleteAll: (ids) => runBatch(userId, { ids: [...ids], action: 'delete' }),
  };
}

function retell(error: unknown): never {
  if (!(error instanceof PakhusError && error.code === 'LOCKED')) throw error;
  throw new PakhusError(error.code, describeError(error), error);
}
