// What can be done with files, as entries of a menu. Only what the server would do is offered.
import type { ListedFile } from '@pakhus/client';
import type { Browsing } from './context.ts';
import { downloadFile } from './download.ts';
import type { MenuItem } from './menu.tsx';

/** The bytes of a compressed image are no longer those of its name and checksum. */
export const canRename = ({ can }: Browsing, file: ListedFile): boolean =>
  can.upload && can.delete && file.compression === null;

export const rename = ({ model }: Browsing, file: ListedFile): void => {
  model.overlay.value = { kind: 'rename', file };
};

/** `single` is the file if it is only one. Thousands may be selected: `files` collects them when a verb runs. */
export function verbsFor(
  browsing: Browsing,
  files: () => readonly ListedFile[],
  single?: ListedFile,
): MenuItem[] {
  const { model, t, can, openFile, extraVerbs } = browsing;
  const items: MenuItem[] = [];
  if (single) {
    items.push(
      { label: t('open'), icon: 'info', run: () => openFile(single.id) },
      { label: t('download'), icon: 'download', run: () => void downloadFile(model, single) },
    );
    if (canRename(browsing, single))
      items.push({ label: t('rename'), icon: 'edit', run: () => rename(browsing, single) });
  }
  if (extraVerbs) items.push(...extraVerbs(single, files));
  if (can.delete)
    items.push({
      label: t('delete'),
      icon: 'trash',
      isDangerous: true,
      run: () => model.deleteFiles(files()),
    });
  return items;
}
