// Above the list: uploading, folders and the view; or what can be done with the selected files.
import { useSignal } from '@preact/signals';
import { Button, IconButton } from './button.tsx';
import { type Chooser, hasCamera } from './chooser.tsx';
import { useBrowsing } from './context.ts';
import { Icon } from './icons.tsx';
import { Menu, type MenuItem } from './menu.tsx';
import { verbsFor } from './verbs.ts';

export function Toolbar({ chooser }: { readonly chooser: Chooser }) {
  const { model, can, isPicker } = useBrowsing();
  const count = model.selection.count.value;
  return (
    <div class="toolbar" part="toolbar">
      {count > 0 && !isPicker ? (
        <SelectionTools count={count} />
      ) : (
        can.upload && <UploadTools chooser={chooser} />
      )}
      <span class="gap" />
      <FolderTools />
      <ViewSwitch />
    </div>
  );
}

function UploadTools({ chooser }: { readonly chooser: Chooser }) {
  const { t, openMore } = useBrowsing();
  const menu = useSignal<{ x: number; y: number } | null>(null);
  const items: MenuItem[] = [
    { label: t('uploadFiles'), icon: 'upload', run: chooser.chooseFiles },
    { label: t('uploadFolder'), icon: 'folder', run: chooser.chooseFolder },
    ...(hasCamera() ? [{ label: t('takePhoto'), icon: 'camera', run: chooser.takePhoto } as const] : []),
  ];
  return (
    <>
      <span class="split">
        <Button kind="primary" icon="upload" onPress={chooser.chooseFiles} part="button upload-button">
          {t('upload')}
        </Button>
        <button
          type="button"
          class="button primary"
          part="button upload-button"
          aria-haspopup="menu"
          aria-expanded={menu.value !== null}
          aria-label={t('ofUpload', { action: t('upload'), name: '…' })}
          onClick={(event) => {
            menu.value = below(event);
          }}
        >
          <Icon name="down" />
        </button>
      </span>
      {menu.value && (
        <Menu
          {...menu.value}
          label={t('upload')}
          items={items}
          onClose={() => {
            menu.value = null;
          }}
        />
      )}
      <Button icon="folderPlus" onPress={() => void openMore({ kind: 'new-folder' })}>
        <span class="wide">{t('newFolder')}</span>
      </Button>
    </>
  );
}

function SelectionTools({ count }: { readonly count: number }) {
  const browsing = useBrowsing();
  const { model, t } = browsing;
  const { files } = model.selection;
  const verbs = verbsFor(browsing, files, count === 1 ? files()[0] : undefined);
  return (
    <>
      <IconButton icon="close" label={t('clearSelection')} onPress={() => model.selection.clear()} />
      <span class="count">{t('selected', { count })}</span>
      {verbs.map(({ label, icon, isDangerous, run }) => (
        <Button
          key={label}
          kind={isDangerous ? 'danger' : 'plain'}
          {...(icon && { icon })}
          onPress={() => run()}
        >
          <span class={icon && 'wide'}>{label}</span>
        </Button>
      ))}
      <IconButton
        icon="more"
        label={t('actions')}
        onPress={(event) => {
          const [file] = files();
          if (file) model.overlay.value = { kind: 'menu', file, ...below(event) };
        }}
      />
    </>
  );
}

/** Where a menu opens. */
function below({ currentTarget }: MouseEvent): { x: number; y: number } {
  const { left, bottom } = (currentTarget as Element).getBoundingClientRect();
  return { x: left, y: bottom + 4 };
}

function FolderTools() {
  const { t, isPicker, openMore } = useBrowsing();
  return (
    <span class="tools">
      <IconButton icon="search" label={t('search')} onPress={() => void openMore({ kind: 'search' })} />
      {!isPicker && (
        <IconButton
          icon="folder"
          label={t('tools')}
          onPress={(event) => void openMore({ kind: 'menu', ...below(event) })}
        />
      )}
    </span>
  );
}

function ViewSwitch() {
  const { model, t } = useBrowsing();
  return (
    <span class="switch">
      {(['list', 'grid'] as const).map((view) => (
        <IconButton
          key={view}
          icon={view}
          label={t(`${view}View`)}
          isPressed={view === model.view.value}
          onPress={() => model.setView(view)}
        />
      ))}
    </span>
  );
}
