// What can be done with the folder that is shown, and the ways to links and the trash.
import { useBrowsing } from '../context.ts';
import type { IconName } from '../icons.tsx';
import { Menu, type MenuItem } from '../menu.tsx';
import type { MoreProps, MoreRequest } from '../more-request.ts';
import type { TextKey } from '../texts.ts';

type FolderKind = Exclude<
  MoreRequest,
  { readonly file: unknown } | { readonly files: unknown } | { readonly x: number }
>['kind'];

interface FolderMenuProps extends Omit<MoreProps, 'request'> {
  readonly x: number;
  readonly y: number;
}

export function FolderMenu({ x, y, onClose }: FolderMenuProps) {
  const { model, t, can, openMore } = useBrowsing();
  const isFolder = model.listing.folder.peek() !== '';
  const item = (kind: FolderKind, label: TextKey, icon: IconName): MenuItem => ({
    label: t(label),
    icon,
    run: () => openMore({ kind }),
  });
  const items = [
    item('zip-folder', 'zipFolder', 'download'),
    isFolder && can.edit && item('move-folder', 'moveFolder', 'folder'),
    isFolder && can.delete && { ...item('remove-folder', 'removeFolder', 'trash'), isDangerous: true },
    can.share && item('links', 'links', 'forward'),
    item('trash', 'trash', 'trash'),
  ].filter((one) => !!one);
  return <Menu x={x} y={y} label={t('tools')} items={items} onClose={onClose} />;
}
