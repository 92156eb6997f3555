// The files of a user, or of one of its spaces. Folder, space and the file that is open are in the address.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import browserStyles from '../../browser/browser.css?inline';
import { Details } from '../../browser/details.tsx';
import { type BrowserHandle, FileBrowser } from '../../browser/file-browser.tsx';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { address, guardLeaving, path, setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Select } from '../../ui/field.tsx';
import { lazy } from '../../ui/lazy.tsx';
import { Shadow } from '../../ui/shadow.tsx';
import { browse } from '../files/browsed.ts';
import { FileTools } from '../files/file-tools.tsx';
import { extraVerbs, type FileDialog, FileDialogs, folderActions } from '../files/file-verbs.tsx';
import { readOrder } from '../files/order.ts';
import type { UserPartProps } from './user-part.ts';

/** Enough to choose from; the others have links on the tab of spaces. */
const spacesMax = 100;

const SearchResults = lazy(async () => (await import('../files/search-results.tsx')).SearchResults);
const Trash = lazy(async () => (await import('../files/trash.tsx')).Trash);

/** The tokens come from the page, with the theme that was chosen there. */
const styles = [browserStyles];

export function UserFiles({ user }: UserPartProps) {
  const { query } = address.value;
  const resource = useMemo(() => browse(user.id), [user.id]);
  const browser = useRef<BrowserHandle | null>(null);
  useEffect(
    () =>
      guardLeaving((next) => {
        const isHere = next.path === path.value && next.query.get('space') === query.get('space');
        return isHere || !browser.current?.isUploading || confirm(t.owner.user.leaveUploads);
      }),
    [query.get('space')],
  );
  const open = useSignal<FileDialog | null>(null);
  const show = (next: FileDialog | null) => {
    open.value = next;
  };
  const refresh = () => browser.current?.refresh();
  const q = query.get('q')?.trim() ?? '';
  const order = readOrder(query.get('sort'));
  const isTrash = query.get('view') === 'trash';
  const isSearch = !isTrash && (q !== '' || order !== null);
  const spaceId = query.get('space') ?? undefined;
  const place = { userId: user.id, spaceId, folder: query.get('folder') ?? '' };
  return (
    <div class="stack">
      <SpaceFilter userId={user.id} chosen={spaceId ?? ''} />
      <FileTools
        q={query.get('q') ?? ''}
        order={order}
        isTrash={isTrash}
        folderItems={isSearch ? [] : folderActions(place, show)}
      />
      {isSearch && <SearchResults userId={user.id} spaceId={spaceId} q={q} order={order} />}
      {isTrash && <Trash userId={user.id} spaceId={spaceId} onChange={refresh} />}
      {/* It stays, because uploads go on in it. */}
      <div hidden={isSearch || isTrash}>
        <Shadow class="files" styles={styles}>
          <FileBrowser
            key={spaceId ?? ''}
            user={resource}
            spaceId={spaceId}
            folder={place.folder}
            onFolderChange={(folder) => setQuery({ folder, file: null })}
            selectedFileId={query.get('file')}
            onOpenFile={(file) => setQuery({ file }, { replace: query.get('file') !== null })}
            can={{ upload: user.active }}
            details={Details}
            extraVerbs={extraVerbs(place, show)}
            onReady={(handle) => {
              browser.current = handle;
            }}
            language={document.documentElement.lang}
          />
        </Shadow>
      </div>
      {open.value && (
        <FileDialogs
          {...place}
          open={open.value}
          onClose={() => show(null)}
          onChange={() => {
            browser.current?.clearSelection();
            refresh();
          }}
        />
      )}
    </div>
  );
}

/** Nothing for a user without spaces. */
function SpaceFilter({ userId, chosen }: { userId: string; chosen: string }) {
  const texts = t.owner.user;
  const spaces = useLoad(
    async (signal) =>
      (await client.user({ id: userId }).spaces.list({ limit: spacesMax }, { signal }).page()).spaces,
    [userId],
  );
  if (!spaces.data || (spaces.data.length === 0 && !chosen)) return null;
  const options = [
    ['', texts.allSpaces],
    ['none', texts.ownLevel],
    ...spaces.data.map(({ id, name }) => [id, name] as const),
  ] as const;
  return (
    <div class="toolbar">
      <Select
        label={texts.spaceFilter}
        name="space"
        options={options}
        value={chosen}
        onChange={(space) => setQuery({ space, folder: null, file: null })}
      />
    </div>
  );
}
