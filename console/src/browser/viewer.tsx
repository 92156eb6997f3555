// One file at a time, large: its preview, its details, and the way to the next one.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { type Browsing, useBrowsing } from './context.ts';
import { Dialog } from './dialog.tsx';
import { downloadFile } from './download.ts';
import { ErrorView } from './error-view.tsx';
import { hasCode } from './errors.ts';
import { Preview } from './preview.tsx';
import { createDetail } from './state/detail.ts';
import { fileOf } from './state/entries.ts';
import { Toasts } from './toasts.tsx';
import { canRename, rename } from './verbs.ts';

/** The next page is asked for when this many entries are left. */
const loadAhead = 10;

export function Viewer() {
  const { selectedFileId } = useBrowsing();
  return selectedFileId === null ? null : <ViewerDialog fileId={selectedFileId} />;
}

function ViewerDialog({ fileId }: { readonly fileId: string }) {
  const browsing = useBrowsing();
  const { model, t, openFile, DetailsPane } = browsing;
  const detail = useMemo(() => createDetail(model.user, fileId), [model, fileId]);
  useEffect(() => {
    void detail.load();
    model.selection.focus(model.listing.indexOf(fileId));
    return detail.dispose;
  }, [detail]);
  useEffect(
    () => () => {
      model.wantsFocus.value = true;
    },
    [],
  );
  const { listing } = model;
  const isNearEnd = listing.indexOf(fileId) >= listing.entries.length - loadAhead;
  useEffect(() => {
    if (isNearEnd) listing.loadMore();
  }, [isNearEnd, listing.version.value]);
  const isDetailed = useSignal(!matchMedia('(max-width: 720px)').matches);
  const listed = fileOf(listing.get(fileId));
  const file = detail.file.value;
  const error = detail.error.value;
  const name = file?.name ?? listed?.name ?? '';
  const close = () => openFile(null);
  return (
    <Dialog
      label={name || t('preview')}
      kind="large"
      onClose={close}
      onKeyDown={(event) => step(browsing, fileId, event)}
    >
      <header class="viewer-head">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <ViewerTools fileId={fileId} onClose={close} />
        {DetailsPane && (
          <IconButton
            icon="info"
            label={t(isDetailed.value ? 'hideDetails' : 'showDetails')}
            isPressed={isDetailed.value}
            onPress={() => {
              isDetailed.value = !isDetailed.value;
            }}
          />
        )}
        <IconButton icon="close" label={t('close')} onPress={close} />
      </header>
      <div class="viewer-body">
        <div class="stage">
          {error !== null && (
            <ErrorView
              {...(hasCode(error, 'NOT_FOUND') && { title: t('fileGone') })}
              error={error}
              onRetry={() => void detail.load()}
            />
          )}
          {file && <Preview key={file.id} file={file} />}
        </div>
        {DetailsPane && isDetailed.value && file && <DetailsPane key={file.id} detail={detail} file={file} />}
      </div>
      {/* Outside of a modal dialog, nothing can be clicked. */}
      <Toasts />
    </Dialog>
  );
}

function ViewerTools({ fileId, onClose }: { readonly fileId: string; readonly onClose: () => void }) {
  const browsing = useBrowsing();
  const { model, t, can, openFile } = browsing;
  const file = fileOf(model.listing.get(fileId));
  const previous = neighbour(browsing, fileId, -1);
  const next = neighbour(browsing, fileId, 1);
  return (
    <>
      <IconButton
        icon="back"
        label={t('previous')}
        isDisabled={previous === null}
        onPress={() => openFile(previous)}
      />
      <IconButton
        icon="forward"
        label={t('next')}
        isDisabled={next === null}
        onPress={() => openFile(next)}
      />
      {file && (
        <IconButton icon="download" label={t('download')} onPress={() => void downloadFile(model, file)} />
      )}
      {file && canRename(browsing, file) && (
        <IconButton icon="edit" label={t('rename')} onPress={() => rename(browsing, file)} />
      )}
      {file && can.delete && (
        <IconButton
          icon="trash"
          label={t('delete')}
          onPress={() => {
            onClose();
            model.deleteFiles([file]);
          }}
        />
      )}
    </>
  );
}

/** The next file in the list; folders are passed over. */
function neighbour({ model }: Browsing, fileId: string, direction: 1 | -1): string | null {
  void model.listing.version.value;
  const { entries } = model.listing;
  const at = model.listing.indexOf(fileId);
  const entry = at < 0 ? undefined : entries[at + direction];
  return entry?.kind === 'file' ? entry.key : null;
}

function step(browsing: Browsing, fileId: string, event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isTaken = target.closest('input, textarea, select, video, audio, pre') !== null;
  const isSideways = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
  if (isTaken || !isSideways || event.altKey || event.ctrlKey || event.metaKey) return;
  const isBack = (event.key === 'ArrowLeft') !== (getComputedStyle(target).direction === 'rtl');
  const next = neighbour(browsing, fileId, isBack ? -1 : 1);
  if (next === null) return;
  event.preventDefault();
  browsing.openFile(next);
}
