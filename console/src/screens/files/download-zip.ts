// Downloads many files as one zip. The browser saves it while it comes; the page holds none of it.
import { findZip, zipIdsMax } from '../../frame/delivery.ts';
import { t } from '../../texts/texts.ts';
import { formatNumber } from '../../ui/format.ts';
import { showToast } from '../../ui/toasts.tsx';

interface Wanted {
  readonly folder?: string;
  readonly ids?: readonly string[];
  readonly space_id?: string | undefined;
}

export async function downloadZip(userId: string, wanted: Wanted): Promise<void> {
  if (wanted.ids && wanted.ids.length > zipIdsMax)
    return showToast(t.files.zipTooMany(formatNumber(zipIdsMax)));
  let url: string;
  try {
    url = await findZip(userId, wanted);
  } catch {
    // The answer to HEAD has no words.
    return showToast(t.files.zipFailed);
  }
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  link.click();
}
