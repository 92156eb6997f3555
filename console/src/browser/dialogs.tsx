// The small dialogs: a new folder, and renaming.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { useBrowsing } from './context.ts';
import { Dialog } from './dialog.tsx';
import { ErrorView } from './error-view.tsx';
import { joinFolder, toFolderName } from './paths.ts';
import { Progress } from './queue.tsx';
import { renameByCopy } from './state/rename.ts';

export function Overlays() {
  const { model } = useBrowsing();
  const overlay = model.overlay.value;
  const close = () => {
    model.overlay.value = null;
  };
  if (overlay?.kind === 'new-folder') return <NewFolder onClose={close} />;
  if (overlay?.kind === 'rename') return <Rename file={overlay.file} onClose={close} />;
  return null;
}

function NewFolder({ onClose }: { readonly onClose: () => void }) {
  const { model, t, go } = useBrowsing();
  const name = useSignal('');
  const isWrong = useSignal(false);
  const open = (event: Event) => {
    event.preventDefault();
    const folder = toFolderName(name.peek());
    isWrong.value = folder === null;
    if (folder === null) return;
    onClose();
    go(joinFolder(model.listing.folder.peek(), folder));
  };
  return (
    <Dialog label={t('newFolder')} kind="small" onClose={onClose}>
      <form onSubmit={open}>
        <h2>{t('newFolder')}</h2>
        <p>{t('newFolderHint')}</p>
        <NameField label={t('newFolderName')} value={name.value} onChange={(value) => (name.value = value)} />
        {isWrong.value && (
          <p role="alert" class="wrong">
            {t('folderNameInvalid')}
          </p>
        )}
        <div class="dialog-buttons">
          <Button onPress={onClose}>{t('cancel')}</Button>
          <Button kind="primary" isSubmit>
            {t('newFolderOpen')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface NameFieldProps {
  readonly label: string;
  readonly value: string;
  readonly isDisabled?: boolean;
  readonly onChange: (value: string) => void;
}

const NameField = ({ label, value, isDisabled, onChange }: NameFieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input
      type="text"
      required
      dir="auto"
      autoComplete="off"
      value={value}
      disabled={isDisabled}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  </label>
);

function Rename({ file, onClose }: { readonly file: ListedFile; readonly onClose: () => void }) {
  const { model, t, openFile, selectedFileId } = useBrowsing();
  const name = useSignal(file.name);
  const error = useSignal<unknown>(null);
  const loaded = useSignal<number | null>(null);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const run = async (event: Event) => {
    event.preventDefault();
    const wanted = name.peek().trim();
    if (wanted === '' || wanted === file.name) return onClose();
    error.value = null;
    loaded.value = 0;
    try {
      const { signal } = abort.current;
      const { copy, keptBecause } = await renameByCopy(model.user, file.id, wanted, signal, (progress) => {
        loaded.value = progress.loaded;
      });
      if (keptBecause === null) model.listing.remove(new Set([file.id]));
      else model.toasts.show({ text: t('renameKept'), isError: true });
      model.listing.add(copy);
      model.selection.selectOnly(Math.max(0, model.listing.indexOf(copy.id)));
      model.quota.refresh();
      if (selectedFileId === file.id) openFile(copy.id);
      else model.wantsFocus.value = true;
      onClose();
    } catch (cause) {
      loaded.value = null;
      if (!abort.current.signal.aborted) error.value = cause;
    }
  };
  const isRunning = loaded.value !== null;
  return (
    <Dialog label={t('renameTitle')} kind="small" onClose={onClose}>
      <form onSubmit={run}>
        <h2>{t('renameTitle')}</h2>
        <NameField
          label={t('renameName')}
          value={name.value}
          isDisabled={isRunning}
          onChange={(value) => (name.value = value)}
        />
        <p>{t('renameHint')}</p>
        {error.value !== null && <ErrorView error={error.value} />}
        {isRunning && <Progress label={t('renameCopying')} loaded={loaded.value ?? 0} total={file.size} />}
        <div class="dialog-buttons">
          <Button onPress={onClose}>{t('cancel')}</Button>
          <Button kind="primary" isSubmit isDisabled={isRunning}>
            {t('rename')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
