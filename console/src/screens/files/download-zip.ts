// Downloads many files as one zip. The browser saves it while it comes; the page holds none of it.
import { client } from '../../frame/api.ts';
import { findZip, zipIdsMax } from '../../frame/delivery.ts';
import { t } from '../../texts/texts.ts';
import { describeError } from '../../ui/error-note.tsx';
import { formatNumber } from '../../ui/format.ts';
import { showToast } from '../../ui/toasts.tsx';

interface Wanted {
  readonly folder?: string;
  readonly ids?: readonly string[];
  readonly space_id?: string | undefined;
}

/** Of the service. */
const filesMax = 10_000;

export async function downloadZip(userId: string, wanted: Wanted): Promise<void> {
  if (wanted.ids && wanted.ids.length > zipIdsMax)
    return showToast(t.files.zipTooMany(formatNumber(zipIdsMax)));
  let url: string;
  try {
    url = await findZip(userId, wanted);
  } catch (error) {
    return showToast(await describeRefusal(userId, wanted, error));
  }
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  link.click();
}

/** The answer to HEAD has no words. */
async function describeRefusal(userId: string, wanted: Wanted, error: unknown): Promise<string> {
  const { status = 0 } = Object(error) as { status?: number };
  if (status === 404) return wanted.ids ? t.files.zipGone : t.files.zipEmpty;
  if (status === 422) return t.files.zipTooLarge(formatNumber(filesMax));
  return describeError(status < 400 ? error : await findReason(userId, wanted, error));
}

/** By GET, which is refused for the same reason and says it. */
async function findReason(userId: string, wanted: Wanted, error: unknown): Promise<unknown> {
  try {
    const response = await client.user({ id: userId }).files.zip(wanted);
    await response.body?.cancel();
    return error;
  } catch (cause) {
    return cause;
  }
}
