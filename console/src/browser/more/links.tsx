// The links to all files of the user or space.
import { useRef } from 'preact/hooks';
import { useBrowsing } from '../context.ts';
import { startAt, usePages } from '../load.ts';
import type { MoreProps } from '../more-request.ts';
import { ShareList } from './share-list.tsx';
import { Sheet } from './sheet.tsx';

const pageSize = 20;

export function Links({ delivery, onClose }: Omit<MoreProps, 'request'>) {
  const { model, t } = useBrowsing();
  /** By their ids: links do not tell the names of their files. */
  const names = useRef(new Map<string, string>());
  const readName = async (fileId: string, signal: AbortSignal) => {
    const { name } = await model.user.files.get(fileId, { signal });
    names.current.set(fileId, name);
  };
  const pages = usePages(async (cursor, signal) => {
    const shares = await delivery.shares();
    const page = await shares.list({ limit: pageSize, ...startAt(cursor) }, { signal }).page();
    const fileIds = new Set(page.shares.map(({ file_id }) => file_id));
    const unknown = [...fileIds].filter((fileId) => !names.current.has(fileId));
    // One that cannot be read, because it is in the trash or for lack of a scope, has no name.
    await Promise.allSettled(unknown.map((fileId) => readName(fileId, signal)));
    return { items: page.shares, next_cursor: page.next_cursor };
  }, []);
  return (
    <Sheet title={t('links')} onClose={onClose}>
      <p class="soft">{t('linksHint')}</p>
      <ShareList
        pages={pages}
        label={t('links')}
        delivery={delivery}
        fileName={({ file_id }) => names.current.get(file_id) ?? t('linkGone')}
      />
    </Sheet>
  );
}
