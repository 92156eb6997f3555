// Above the list: uploading, folders and the view; or what can be done with the selected files.
import { useSignal } from '@preact/signals';
import { Button, IconButton } from './button.tsx';
import { type Chooser, hasCamera } from './chooser.tsx';
import { type Browsing, useBrowsing } from './context.ts';
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
      <ViewSwitch />
    </div>
  );
}

function UploadTools({ chooser }: { readonly chooser: Chooser }) {
  const { model, t } = useBrowsing();
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
            const { left, bottom } = event.currentTarget.getBoundingClientRect();
            menu.value = { x: left, y: bottom + 4 };
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
      <Button
        icon="folderPlus"
        onPress={() => {
          model.overlay.value = { kind: 'new-folder' };
        }}
      >
        <span class="wide">{t('newFolder')}</span>
      </Button>
    </>
  );
}

function SelectionTools({ count }: { readonly count: number }) {
  const browsing = useBrowsing();
  const { model, t } = browsing;
  // Thousands may be selected, and this renders at each change of the selection: their files are collected when a verb runs.
  const verbs = count === 1 ? verbsFor(browsing, model.selection.files()) : manyVerbs(browsing);
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
          <span class="wide">{label}</span>
        </Button>
      ))}
    </>
  );
}

function manyVerbs(browsing: Browsing): MenuItem[] {
  const { model, can, t, actions } = browsing;
  const { selection } = model;
  const extra = actions.map(({ label, run }) => ({ label, run: () => run(selection.files()) }));
  if (!can.delete) return extra;
  const remove = () => model.deleteFiles(selection.files());
  return [...extra, { label: t('delete'), icon: 'trash', isDangerous: true, run: remove }];
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
