// The files of a user, or of one of its spaces. Folder, space and the file that is open are in the address.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import browserStyles from '../../browser/browser.css?inline';
import { Details } from '../../browser/details.tsx';
import { type BrowserHandle, FileBrowser } from '../../browser/file-browser.tsx';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { loadMore, toBrowsedUser } from '../../frame/delivery.ts';
import { address, guardLeaving, path, setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Select } from '../../ui/field.tsx';
import { lazy } from '../../ui/lazy.tsx';
import { Shadow } from '../../ui/shadow.tsx';
import { FileTools, openTrash } from '../files/file-tools.tsx';
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
  const resource = useMemo(() => toBrowsedUser(user.id), [user.id]);
  const browser = useRef<BrowserHandle | null>(null);
  useEffect(
    () =>
      guardLeaving((next) => {
        const isHere = next.path === path.value && next.query.get('space') === query.get('space');
        return isHere || !browser.current?.isUploading || confirm(t.owner.user.leaveUploads);
      }),
    [query.get('space')],
  );
  const tools = useRef<HTMLDivElement>(null);
  const refresh = () => browser.current?.refresh();
  const q = query.get('q')?.trim() ?? '';
  const order = readOrder(query.get('sort'));
  const isTrash = query.get('view') === 'trash';
  const isSearch = !isTrash && (q !== '' || order !== null);
  const spaceId = query.get('space') ?? undefined;
  return (
    <div class="stack">
      <SpaceFilter userId={user.id} chosen={spaceId ?? ''} />
      <div ref={tools}>
        <FileTools q={query.get('q') ?? ''} order={order} isTrash={isTrash} />
      </div>
      {isSearch && <SearchResults userId={user.id} spaceId={spaceId} q={q} order={order} />}
      {isTrash && <Trash userId={user.id} spaceId={spaceId} onChange={refresh} />}
      {/* It stays, because uploads go on in it. */}
      <div hidden={isSearch || isTrash}>
        <Shadow class="files" styles={styles}>
          <FileBrowser
            key={spaceId ?? ''}
            user={resource}
            spaceId={spaceId}
            folder={query.get('folder') ?? ''}
            onFolderChange={(folder) => setQuery({ folder, file: null })}
            selectedFileId={query.get('file')}
            onOpenFile={(file) => setQuery({ file }, { replace: query.get('file') !== null })}
            can={{ upload: user.active }}
            details={Details}
            more={() => loadMore(user.id)}
            onMore={({ kind }) => {
              if (kind === 'search') tools.current?.querySelector('input')?.focus();
              else if (kind === 'trash') openTrash();
              else return false;
              return true;
            }}
            onReady={(handle) => {
              browser.current = handle;
            }}
            language={document.documentElement.lang}
          />
        </Shadow>
      </div>
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
