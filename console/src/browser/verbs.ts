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

export function verbsFor(browsing: Browsing, files: readonly ListedFile[]): MenuItem[] {
  const { model, t, can, openFile, actions } = browsing;
  const [file] = files;
  const single: MenuItem[] =
    file && files.length === 1
      ? [
          { label: t('open'), icon: 'info', run: () => openFile(file.id) },
          { label: t('download'), icon: 'download', run: () => void downloadFile(model, file) },
          ...(canRename(browsing, file)
            ? [{ label: t('rename'), icon: 'edit', run: () => rename(browsing, file) } as const]
            : []),
        ]
      : [];
  const extra = actions.map(({ label, run }) => ({ label, run: () => run(files) }));
  return [
    ...single,
    ...extra,
    ...(can.delete
      ? [
          {
            label: t('delete'),
            icon: 'trash',
            isDangerous: true,
            run: () => model.deleteFiles(files),
          } as const,
        ]
      : []),
  ];
}
