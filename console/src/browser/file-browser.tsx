// The file browser: the files of one user or space, to manage them or to choose some of them.
import type { ListedFile, StoredFile } from '@pakhus/client';
import { type ReadonlySignal, Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { Button } from './button.tsx';
import { useChooser } from './chooser.tsx';
import { type Browsing, BrowsingContext, type DetailsPane, useBrowsing } from './context.ts';
import { useDrop } from './drop.ts';
import { Empty } from './empty.tsx';
import { Interrupted } from './interrupted.tsx';
import { FileList } from './list.tsx';
import { Menu } from './menu.tsx';
import type { MorePart, MoreRequest } from './more-request.ts';
import { Queue } from './queue.tsx';
import { QuotaBar } from './quota-bar.tsx';
import { type Can, combine } from './state/abilities.ts';
import type { BrowsedUser } from './state/browsed-user.ts';
import type { Host } from './state/host.ts';
import { createModel, type Model, type View } from './state/model.ts';
import type { NewUpload } from './state/upload-item.ts';
import type { Catalogue } from './texts.en.ts';
import { createTexts } from './texts.ts';
import { Toasts } from './toasts.tsx';
import { Toolbar } from './toolbar.tsx';
import { verbsFor } from './verbs.ts';
import { Viewer } from './viewer.tsx';

/** What a host can ask of a browser that is shown. */
export interface BrowserHandle {
  refresh(): void;
  /** After the selected files went elsewhere. */
  clearSelection(): void;
  upload(uploads: readonly NewUpload[]): void;
  /** Uploads end when the browser disappears: ask before you leave. */
  readonly isUploading: boolean;
  readonly folder: string;
}

export interface FileBrowserProps {
  /** Keep it the same object: another one starts anew. */
  readonly user: BrowsedUser;
  /** A space, `none` for files outside of spaces, or undefined for all. */
  readonly spaceId?: string | undefined;
  /** With `onFolderChange`, the host decides; without, the browser does. */
  readonly folder?: string | ReadonlySignal<string> | undefined;
  readonly onFolderChange?: ((folder: string) => void) | undefined;
  /** The file that is shown large. */
  readonly selectedFileId?: string | null | undefined;
  readonly onOpenFile?: ((fileId: string | null) => void) | undefined;
  readonly readOnly?: boolean | undefined;
  readonly mode?: 'manage' | 'picker' | undefined;
  /** In a picker: more than one file. */
  readonly multiple?: boolean | undefined;
  readonly view?: View | undefined;
  readonly texts?: Partial<Catalogue> | undefined;
  readonly language?: string | undefined;
  readonly can?: Partial<Can> | undefined;
  /** `Details` of details.tsx; without it, it is not bundled. */
  readonly details?: DetailsPane | undefined;
  /** Loads more/more.tsx, when it is needed first. */
  readonly more: () => Promise<MorePart>;
  /** True if the host shows that itself. */
  readonly onMore?: ((request: MoreRequest) => boolean) | undefined;
  /** In a picker, the files that were chosen; otherwise those that are selected now. */
  readonly onSelect?: ((files: readonly ListedFile[]) => void) | undefined;
  readonly onUploaded?: ((file: StoredFile) => void) | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Called with a handle when it appears, and with null when it disappears. */
  readonly onReady?: ((handle: BrowserHandle | null) => void) | undefined;
}

export function FileBrowser(props: FileBrowserProps) {
  const browsing = useBrowsingFor(props);
  const { model } = browsing;
  useEffect(() => {
    props.onReady?.({
      refresh: () => {
        model.listing.reload();
        model.quota.refresh();
      },
      clearSelection: model.selection.clear,
      upload: (uploads) => model.uploads.add(uploads),
      get isUploading() {
        const { running, waiting } = model.uploads.totals.peek();
        return running + waiting > 0;
      },
      get folder() {
        return model.listing.folder.peek();
      },
    });
    return () => {
      props.onReady?.(null);
      model.dispose();
    };
  }, [model]);
  return (
    <BrowsingContext.Provider value={browsing}>
      <Frame />
    </BrowsingContext.Provider>
  );
}

function useBrowsingFor(props: FileBrowserProps): Browsing {
  const more = useSignal<MorePart | null>(null);
  const texts = useMemo(
    () => createTexts({ ...props.details?.texts, ...more.value?.texts, ...props.texts }, props.language),
    [props.texts, props.language, props.details, more.value],
  );
  const host = useRef<Host>(null as unknown as Host);
  host.current = {
    texts,
    isMultiple: props.mode !== 'picker' || props.multiple === true,
    onError: (error) => props.onError?.(error),
    onUploaded: (file) => props.onUploaded?.(file),
  };
  const model = useMemo(
    () => createModel(props.user, props.spaceId, () => host.current),
    [props.user, props.spaceId],
  );
  const ownFolder = useSignal('');
  const given = props.folder instanceof Signal ? props.folder.value : props.folder;
  const folder = props.onFolderChange ? (given ?? '') : ownFolder.value;
  const ownFile = useSignal<string | null>(null);
  // Before anything is painted: later these would undo what was chosen since.
  useLayoutEffect(() => {
    if (!props.onFolderChange && given !== undefined) ownFolder.value = given;
  }, [given]);
  useLayoutEffect(() => {
    model.listing.open(folder);
    model.selection.reset();
  }, [model, folder]);
  useLayoutEffect(() => {
    if (props.view) model.view.value = props.view;
  }, [model, props.view]);
  useSelectEvents(props, model);
  const isPicker = props.mode === 'picker';
  return {
    model,
    texts,
    t: texts.t,
    can: combine(props.can ?? {}, model.abilities.refused.value, props.readOnly ?? false),
    isPicker,
    spaceId: props.spaceId,
    more: more.value,
    openMore: async (request) => {
      if (props.onMore?.(request)) return;
      try {
        more.value ??= await props.more();
        model.overlay.value = { kind: 'more', request };
      } catch (error) {
        model.toasts.show({ text: texts.t('moreFailed'), isError: true });
        props.onError?.(error);
      }
    },
    DetailsPane: props.details ?? null,
    selectedFileId: (props.onOpenFile ? props.selectedFileId : ownFile.value) ?? null,
    go: (next) => {
      if (props.onFolderChange) props.onFolderChange(next);
      else ownFolder.value = next;
    },
    openFile: (fileId) => {
      if (props.onOpenFile) props.onOpenFile(fileId);
      else ownFile.value = fileId;
    },
    pick: (files) => props.onSelect?.(files),
  };
}

function useSelectEvents({ mode, onSelect }: FileBrowserProps, model: Model): void {
  const version = model.selection.version.value;
  const told = useRef(version);
  useEffect(() => {
    if (told.current === version) return;
    told.current = version;
    if (mode !== 'picker') onSelect?.(model.selection.files());
  }, [version]);
}

function Frame() {
  const { model, t, can, isPicker, selectedFileId } = useBrowsing();
  const root = useRef<HTMLDivElement>(null);
  const chooser = useChooser();
  const isAbove = useDrop(root, model, can.upload);
  const { listing } = model;
  void listing.version.value;
  const isEmpty = listing.isComplete.value && listing.entries.length === 0;
  const folder = listing.folder.value;
  return (
    <div class="pakhus-browser" part="browser" ref={root}>
      {chooser.inputs}
      <div class="top">
        <Breadcrumbs />
        <QuotaBar />
      </div>
      <Toolbar chooser={chooser} />
      <Interrupted chooser={chooser} />
      <div class="main">
        {isEmpty ? <Empty chooser={chooser} /> : <FileList />}
        {selectedFileId === null && <Toasts />}
      </div>
      {isPicker && <PickerBar />}
      <Queue />
      <EntryMenu />
      <Viewer />
      <More />
      {isAbove.value && (
        <div class="drop" part="drop">
          <p>{t('dropHere', { folder: folder || t('rootFolder') })}</p>
        </div>
      )}
    </div>
  );
}

/** What was loaded when it was wanted. */
function More() {
  const { model, more } = useBrowsing();
  const overlay = model.overlay.value;
  if (overlay?.kind !== 'more' || !more) return null;
  return (
    <more.More
      request={overlay.request}
      delivery={more.deliver(model.user)}
      onClose={() => {
        // Another one may have taken its place.
        if (model.overlay.peek() === overlay) model.overlay.value = null;
      }}
    />
  );
}

function EntryMenu() {
  const browsing = useBrowsing();
  const { model, t } = browsing;
  const overlay = model.overlay.value;
  if (overlay?.kind !== 'menu') return null;
  const isMany = model.selection.count.peek() > 1 && model.selection.has(overlay.file.id);
  const { file } = overlay;
  const items = isMany
    ? verbsFor(browsing, model.selection.files, undefined, true)
    : verbsFor(browsing, () => [file], file, true);
  if (items.length === 0) return null;
  return (
    <Menu
      x={overlay.x}
      y={overlay.y}
      label={t('actions')}
      items={items}
      onClose={() => {
        if (model.overlay.peek() === overlay) model.overlay.value = null;
      }}
    />
  );
}

function PickerBar() {
  const { model, t, pick } = useBrowsing();
  const count = model.selection.count.value;
  return (
    <div class="picker" part="picker">
      <Button kind="primary" isDisabled={count === 0} onPress={() => pick(model.selection.files())}>
        {count === 0 ? t('chooseNone') : t('choose', { count })}
      </Button>
    </div>
  );
}
