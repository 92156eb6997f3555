// The files of a user, or of one of its spaces. Folder, space and the file that is open are in the address.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import browserStyles from '../../browser/browser.css?inline';
import { Details } from '../../browser/details.tsx';
import { type BrowserHandle, FileBrowser } from '../../browser/file-browser.tsx';
import { client } from '../../frame/api.ts';
import { address, guardLeaving, path, setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Select } from '../../ui/field.tsx';
import { useLoad } from '../../ui/load.tsx';
import { Shadow } from '../../ui/shadow.tsx';
import type { UserPartProps } from './user-part.ts';

/** Enough to choose from; the others have links on the tab of spaces. */
const spacesMax = 100;

/** The tokens come from the page, with the theme that was chosen there. */
const styles = [browserStyles];

export function UserFiles({ user }: UserPartProps) {
  const { query } = address.value;
  const resource = useMemo(() => client.user({ id: user.id }), [user.id]);
  const browser = useRef<BrowserHandle | null>(null);
  useEffect(
    () =>
      guardLeaving((next) => {
        const isHere = next.path === path.value && next.query.get('space') === query.get('space');
        return isHere || !browser.current?.isUploading || confirm(t.owner.user.leaveUploads);
      }),
    [query.get('space')],
  );
  return (
    <div class="stack">
      <SpaceFilter userId={user.id} chosen={query.get('space') ?? ''} />
      <Shadow class="files" styles={styles}>
        <FileBrowser
          key={query.get('space') ?? ''}
          user={resource}
          spaceId={query.get('space') ?? undefined}
          folder={query.get('folder') ?? ''}
          onFolderChange={(folder) => setQuery({ folder, file: null })}
          selectedFileId={query.get('file')}
          onOpenFile={(file) => setQuery({ file }, { replace: query.get('file') !== null })}
          can={{ upload: user.active }}
          details={Details}
          onReady={(handle) => {
            browser.current = handle;
          }}
          language={document.documentElement.lang}
        />
      </Shadow>
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
