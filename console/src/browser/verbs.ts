// What can be done with files, as entries of a menu. Only what the server would do is offered.
import type { ListedFile } from '@pakhus/client';
import type { Browsing } from './context.ts';
import { downloadFile } from './download.ts';
import type { MenuItem } from './menu.tsx';

/** The bytes of a compressed image are no longer those of its name and checksum. */
export const canRename = ({ can }: Browsing, file: ListedFile): boolean =>
  can.upload && can.delete && file.compression === null;

export const rename = ({ openMore }: Browsing, file: ListedFile): void =>
  void openMore({ kind: 'rename', file });

/** The types that the server makes variants of. */
const hasVariants = ({ mimeType }: ListedFile): boolean => /^image\/(jpeg|png|webp|gif|avif)$/.test(mimeType);

/** `single` is the file if it is only one. Thousands may be selected: `files` collects them when a verb runs. The bar above the list has no room for all. */
export function verbsFor(
  browsing: Browsing,
  files: () => readonly ListedFile[],
  single?: ListedFile,
  isAll = false,
): MenuItem[] {
  const { model, t, can, openFile } = browsing;
  const items: MenuItem[] = [];
  if (single) {
    items.push(
      { label: t('open'), icon: 'info', run: () => openFile(single.id) },
      { label: t('download'), icon: 'download', run: () => void downloadFile(model, single) },
    );
    if (canRename(browsing, single))
      items.push({ label: t('rename'), icon: 'edit', run: () => rename(browsing, single) });
  }
  if (isAll) items.push(...moreVerbsFor(browsing, files, single));
  if (can.delete)
    items.push({
      label: t('delete'),
      icon: 'trash',
      isDangerous: true,
      run: () => model.deleteFiles(files()),
    });
  return items;
}

function moreVerbsFor(
  { t, can, isPicker, openMore }: Browsing,
  files: () => readonly ListedFile[],
  file?: ListedFile,
): MenuItem[] {
  if (isPicker) return [];
  const ofOne = (kind: 'share' | 'variants') =>
    file && { label: t(kind), run: () => openMore({ kind, file }) };
  const ofMany = (kind: 'move' | 'copy' | 'zip') => ({
    label: t(kind),
    run: () => openMore({ kind, files: files() }),
  });
  return [
    can.share && ofOne('share'),
    can.edit && ofMany('move'),
    can.upload && ofMany('copy'),
    ofMany('zip'),
    file && hasVariants(file) && ofOne('variants'),
  ].filter((item) => !!item);
}
