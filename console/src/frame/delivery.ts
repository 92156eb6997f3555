// What the file browser of the console can do beyond <pakhus-files>'s first file, with the session's cookie.
import { PakhusError } from '@pakhus/client';
import { runBatches } from '../browser/batches.ts';
import type { Delivery, MorePart, ZipQuery } from '../browser/more-request.ts';
import type { BrowsedUser } from '../browser/state/browsed-user.ts';
import { t } from '../texts/texts.ts';
import { describeError } from '../ui/error-note.tsx';
import { formatNumber } from '../ui/format.ts';
import { client, http } from './api.ts';

/** Many files are deleted by one request, and a hold is told in the console's words. */
export function toBrowsedUser(userId: string): BrowsedUser {
  const user = client.user({ id: userId });
  const { files } = user;
  return {
    ...user,
    files: { ...files, delete: (...given) => files.delete(...given).catch(retell) },
    deleteAll: (ids) => runBatches(files.batch, ids, { action: 'delete' }),
  };
}

function retell(error: unknown): never {
  if (!(error instanceof PakhusError && error.code === 'LOCKED')) throw error;
  throw new PakhusError(error.code, describeError(error), error);
}

export async function loadMore(userId: string): Promise<MorePart> {
  const [{ More }, { moreEnglish }] = await Promise.all([
    import('../browser/more/more.tsx'),
    import('../browser/texts.more.en.ts'),
  ]);
  const user = client.user({ id: userId });
  const { folders } = user;
  const delivery: Delivery = {
    ...user,
    folders: { ...folders, delete: (...given) => folders.delete(...given).catch(retell) },
    variants: client.project.variants,
    zip: (query) => findZip(userId, query),
  };
  return { More, texts: moreEnglish, deliver: () => delivery };
}

/** Of the service. */
const zipFilesMax = 10_000;

/** The address of a zip, once the server has said that there is one. The browser saves it while it comes; the page holds none of it. */
async function findZip(userId: string, wanted: ZipQuery): Promise<string> {
  const { folder, ids, space_id } = wanted;
  const query = new URLSearchParams({
    ...(folder !== undefined && { folder }),
    ...(ids && { ids: ids.join(',') }),
    ...(space_id && { space_id }),
  });
  const url = `${http.root}/project/users/${encodeURIComponent(userId)}/files/zip?${query}`;
  try {
    await http.raw(url, { method: 'HEAD' });
  } catch (error) {
    throw new Error(await describeRefusal(userId, wanted, error));
  }
  return url;
}

/** The answer to HEAD has no words. */
async function describeRefusal(userId: string, wanted: ZipQuery, error: unknown): Promise<string> {
  const { status = 0 } = Object(error) as { status?: number };
  if (status === 404) return wanted.ids ? t.files.zipGone : t.files.zipEmpty;
  if (status === 422) return t.files.zipTooLarge(formatNumber(zipFilesMax));
  return describeError(status < 400 ? error : await findReason(userId, wanted, error));
}

/** By GET, which is refused for the same reason and says it. */
async function findReason(userId: string, wanted: ZipQuery, error: unknown): Promise<unknown> {
  try {
    const response = await client.user({ id: userId }).files.zip(wanted);
    await response.body?.cancel();
    return error;
  } catch (cause) {
    return cause;
  }
}
