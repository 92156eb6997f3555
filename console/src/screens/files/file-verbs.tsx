// What the console can do with files and folders beyond the file browser, and the dialogs for it, which are loaded when they open.
import type { ListedFile } from '@pakhus/client';
import type { ExtraVerbs } from '../../browser/context.ts';
import { parentOf } from '../../browser/paths.ts';
import { folders } from '../../frame/delivery.ts';
import { setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { formatNumber } from '../../ui/format.ts';
import { lazy } from '../../ui/lazy.tsx';
import type { MenuItem } from '../../ui/menu.tsx';
import { Foreign } from '../../ui/parts.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { downloadZip } from './download-zip.ts';
import type { Target } from './target-dialog.tsx';

const ShareDialog = lazy(async () => (await import('./share-dialog.tsx')).ShareDialog);
const TargetDialog = lazy(async () => (await import('./target-dialog.tsx')).TargetDialog);
const VariantPreview = lazy(async () => (await import('./variant-preview.tsx')).VariantPreview);

export type FileDialog =
  | Target
  | { readonly kind: 'share' | 'variants'; readonly file: ListedFile }
  | { readonly kind: 'remove-folder'; readonly folder: string };

interface Place {
  readonly userId: string;
  readonly spaceId: string | undefined;
  readonly folder: string;
}

type Open = (dialog: FileDialog) => void;

/** The types that the server makes variants of. */
const hasVariants = ({ mimeType }: ListedFile): boolean => /^image\/(jpeg|png|webp|gif|avif)$/.test(mimeType);

export const extraVerbs =
  ({ userId, folder }: Place, open: Open): ExtraVerbs =>
  (single, files) => {
    const texts = t.files;
    return [
      ...(single ? [{ label: texts.share, run: () => open({ kind: 'share', file: single }) }] : []),
      { label: texts.move, run: () => open({ kind: 'move', files: files(), folder }) },
      { label: texts.copy, run: () => open({ kind: 'copy', files: files(), folder }) },
      { label: texts.zip, run: () => void downloadZip(userId, { ids: files().map(({ id }) => id) }) },
      ...(single && hasVariants(single)
        ? [{ label: texts.variants, run: () => open({ kind: 'variants', file: single }) }]
        : []),
    ];
  };

export function folderActions({ userId, spaceId, folder }: Place, open: Open): readonly MenuItem[] {
  const texts = t.files;
  const zip: MenuItem = {
    label: texts.zipFolder,
    icon: 'download',
    onPress: () => downloadZip(userId, { folder, space_id: spaceId }),
  };
  if (folder === '') return [zip];
  return [
    zip,
    { label: texts.moveFolder, icon: 'files', onPress: () => open({ kind: 'move-folder', folder }) },
    {
      label: texts.removeFolder,
      icon: 'trash',
      danger: true,
      onPress: () => open({ kind: 'remove-folder', folder }),
    },
  ];
}

interface FileDialogsProps extends Place {
  readonly open: FileDialog;
  readonly onClose: () => void;
  /** The list is no longer what the server has. */
  readonly onChange: () => void;
}

export function FileDialogs({ open, folder, onChange, ...rest }: FileDialogsProps) {
  switch (open.kind) {
    case 'share':
      return <ShareDialog {...rest} file={open.file} />;
    case 'variants':
      return <VariantPreview {...rest} file={open.file} />;
    case 'remove-folder':
      return <RemoveFolder {...rest} folder={open.folder} />;
    default:
      return (
        <TargetDialog
          {...rest}
          target={open}
          onDone={(to) => (open.kind === 'move-folder' ? setQuery({ folder: to }) : onChange())}
        />
      );
  }
}

function RemoveFolder({ userId, spaceId, folder, onClose }: Omit<FileDialogsProps, 'open' | 'onChange'>) {
  const texts = t.files;
  return (
    <Confirm
      title={texts.removeFolderTitle}
      action={texts.removeFolder}
      onClose={onClose}
      onConfirm={async () => {
        const { files } = await folders.delete(userId, {
          prefix: folder,
          ...(spaceId && { space_id: spaceId }),
        });
        showToast(texts.folderRemoved(formatNumber(files)));
        setQuery({ folder: parentOf(folder), file: null });
      }}
    >
      <p>
        <strong>
          <Foreign>{folder}</Foreign>
        </strong>
      </p>
      <p>{texts.removeFolderHint}</p>
    </Confirm>
  );
}
