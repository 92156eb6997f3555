// Downloads many files as one zip.
import type { ListedFile } from '@pakhus/client';
import { useBrowsing } from '../context.ts';
import { save, saveBlob } from '../download.ts';
import type { Delivery } from '../more-request.ts';

/** As many ids as fit into an address. */
const idsMax = 400;
/** Of a zip that passes through the page. */
const bytesMax = 2e9;
const shownMs = 5_000;

/** Of these files; without any, of the folder that is shown. */
export function useZip(delivery: Delivery): (files: readonly ListedFile[] | null) => Promise<void> {
  const { model, t, texts, spaceId } = useBrowsing();
  const refuse = (text: string) => void model.toasts.show({ text, isError: true });
  return async (files) => {
    if (files && files.length > idsMax) return refuse(t('zipTooMany', { max: idsMax }));
    const folder = model.listing.folder.peek();
    const hide = model.toasts.show({ text: t('zipStarted') }, shownMs);
    try {
      const zip = await delivery.zip(
        files ? { ids: files.map(({ id }) => id) } : { folder, space_id: spaceId },
      );
      if (typeof zip === 'string') return save(zip, '');
      const bytes = Number(zip.headers.get('content-length'));
      if (bytes <= bytesMax) return saveBlob(await zip.blob(), toName(files ? '' : folder));
      await zip.body?.cancel();
      hide();
      refuse(t('zipTooLarge', { bytes: texts.bytes(bytes) }));
    } catch (error) {
      hide();
      model.fail(error);
    }
  };
}

const toName = (folder: string): string => `${folder.split('/').at(-1) || 'files'}.zip`;
