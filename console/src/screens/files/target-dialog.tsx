// Moves or copies files, or moves a folder: asks for the folder to put them into.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useLoad } from '../../browser/load.ts';
import { joinFolder, parentOf } from '../../browser/paths.ts';
import { client } from '../../frame/api.ts';
import { copyFile, folders, runBatch } from '../../frame/delivery.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Foreign } from '../../ui/parts.tsx';
import { showToast } from '../../ui/toasts.tsx';

export type Target =
  | { readonly kind: 'move' | 'copy'; readonly files: readonly ListedFile[]; readonly folder: string }
  | { readonly kind: 'move-folder'; readonly folder: string };

interface TargetDialogProps {
  readonly userId: string;
  readonly spaceId: string | undefined;
  readonly target: Target;
  readonly onClose: () => void;
  /** Gets the folder where things are now. */
  readonly onDone: (folder: string) => void;
}

export function TargetDialog({ userId, spaceId, target, onClose, onDone }: TargetDialogProps) {
  const texts = t.files.to;
  const folder = useSignal(target.folder);
  const single = target.kind === 'copy' && target.files.length === 1 ? target.files[0] : undefined;
  const title = { move: texts.moveTitle, copy: texts.copyTitle, 'move-folder': texts.moveFolderTitle };
  const action = target.kind === 'copy' ? t.files.copy : t.files.move;
  return (
    <Dialog title={title[target.kind]} onClose={onClose}>
      <Form
        submit={action}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async ({ name }) => {
          const to = folder.value.trim();
          const count = await put(userId, spaceId, target, to, name);
          showToast((target.kind === 'copy' ? texts.copied : texts.moved)(formatNumber(count)));
          onClose();
          onDone(to);
        }}
      >
        {(wrong) => (
          <>
            <p>
              <strong>
                {target.kind === 'move-folder' ? (
                  <Foreign>{target.folder}</Foreign>
                ) : (
                  <What files={target.files} />
                )}
              </strong>
            </p>
            {single && (
              <Field label={texts.newName} name="name" value={single.name} required wrong={wrong('name')} />
            )}
            <Field
              label={texts.target}
              hint={texts.targetHint}
              name="folder"
              value={folder.value}
              autocomplete="off"
              autofocus
              wrong={wrong('folder') ?? wrong('set') ?? wrong('to')}
              onInput={(value) => {
                folder.value = value;
              }}
            />
            <Neighbours
              userId={userId}
              spaceId={spaceId}
              folder={folder.value}
              onGo={(next) => {
                folder.value = next;
              }}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

const What = ({ files }: { files: readonly ListedFile[] }) =>
  files.length === 1 ? <Foreign>{files[0]?.name}</Foreign> : <span>{t.files.to.count(files.length)}</span>;

/** Resolves to how many files it was. */
async function put(
  userId: string,
  spaceId: string | undefined,
  target: Target,
  to: string,
  name: string | undefined,
): Promise<number> {
  if (target.kind === 'move-folder') {
    const body = { from: target.folder, to, ...(spaceId && { space_id: spaceId }) };
    return (await folders.move(userId, body)).files;
  }
  const ids = target.files.map(({ id }) => id);
  const [first = ''] = ids;
  if (target.kind === 'move') await runBatch(userId, { ids, action: 'update', set: { folder: to } });
  else if (ids.length === 1) await copyFile(userId, first, { folder: to, ...(name && { name }) });
  else await runBatch(userId, { ids, action: 'copy', set: { folder: to } });
  return ids.length;
}

interface NeighboursProps {
  readonly userId: string;
  readonly spaceId: string | undefined;
  readonly folder: string;
  readonly onGo: (folder: string) => void;
}

/** The folders below the one that is named, to choose instead of typing. */
function Neighbours({ userId, spaceId, folder, onGo }: NeighboursProps) {
  const at = folder.trim().replace(/^\/+|\/+$/g, '');
  const below = useLoad(
    async (signal) => {
      const query = { prefix: at, limit: 100, ...(spaceId && { space_id: spaceId }) };
      return (await client.user({ id: userId }).files.folders(query, { signal }).page()).folders;
    },
    [userId, spaceId, at],
  );
  const names = below.data ?? [];
  if (at === '' && names.length === 0) return null;
  return (
    <div class="stack tight">
      {names.length > 0 && <span class="label">{t.files.to.inside}</span>}
      <div class="row">
        {at !== '' && (
          <Button size="small" icon="back" onPress={() => onGo(parentOf(at))}>
            {t.files.to.up}
          </Button>
        )}
        {names.map((name) => (
          <Button key={name} size="small" icon="files" onPress={() => onGo(joinFolder(at, name))}>
            <Foreign>{name}</Foreign>
          </Button>
        ))}
      </div>
    </div>
  );
}
