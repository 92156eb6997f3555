// Moves or copies files, or moves a folder: asks for the folder to put them into.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { runBatches } from '../batches.ts';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { useLoad } from '../load.ts';
import type { Delivery, MoreProps } from '../more-request.ts';
import { joinFolder, parentOf } from '../paths.ts';
import type { TextKey } from '../texts.ts';
import { useAfterChange } from './after-change.ts';
import { Field, Form } from './form.tsx';
import { Sheet } from './sheet.tsx';

type Props = Omit<MoreProps, 'request'>;

interface PutFilesProps extends Props {
  readonly kind: 'move' | 'copy';
  readonly files: readonly ListedFile[];
}

export function PutFiles({ kind, files, delivery, onClose }: PutFilesProps) {
  const { model, t } = useBrowsing();
  const afterChange = useAfterChange();
  const [first] = files;
  const single = files.length === 1 ? first : undefined;
  return (
    <Target
      title={kind === 'move' ? 'moveTitle' : 'copyTitle'}
      action={kind}
      subject={single?.name ?? t('filesCount', { count: files.length })}
      from={model.listing.folder.peek()}
      {...(kind === 'copy' && single && { copyName: single.name })}
      onClose={onClose}
      onPut={async (folder, name) => {
        await put(delivery, kind, files, folder, name);
        const done = t(kind === 'move' ? 'moved' : 'copiedFiles', { count: files.length });
        model.toasts.show({ text: done }, 5_000);
        afterChange();
      }}
    />
  );
}

async function put(
  { files: delivered }: Delivery,
  kind: 'move' | 'copy',
  files: readonly ListedFile[],
  folder: string,
  name: string | undefined,
): Promise<void> {
  const ids = files.map(({ id }) => id);
  const [only = ''] = ids;
  if (kind === 'copy' && ids.length === 1) {
    await delivered.copy(only, { folder, ...(name && { name }) });
    return;
  }
  const action = kind === 'move' ? 'update' : 'copy';
  await runBatches(delivered.batch, ids, { action, set: { folder } });
}

export function MoveFolder({ delivery, onClose }: Props) {
  const { model, t, go, spaceId } = useBrowsing();
  const from = model.listing.folder.peek();
  return (
    <Target
      title="moveFolder"
      action="move"
      subject={from}
      from={from}
      onClose={onClose}
      onPut={async (to) => {
        const { files } = await delivery.folders.move({ from, to, ...(spaceId && { space_id: spaceId }) });
        model.toasts.show({ text: t('moved', { count: files }) }, 5_000);
        go(to);
      }}
    />
  );
}

interface TargetProps {
  readonly title: TextKey;
  readonly action: 'move' | 'copy';
  readonly subject: string;
  readonly from: string;
  /** With it, a new name is asked for as well. */
  readonly copyName?: string;
  readonly onClose: () => void;
  readonly onPut: (folder: string, name: string | undefined) => Promise<void>;
}

function Target({ title, action, subject, from, copyName, onClose, onPut }: TargetProps) {
  const { t } = useBrowsing();
  const folder = useSignal(from);
  const set = (next: string) => {
    folder.value = next;
  };
  return (
    <Sheet title={t(title)} subject={subject} onClose={onClose}>
      <Form
        action={t(action)}
        onCancel={onClose}
        onSubmit={async ({ name }) => {
          await onPut(folder.value.trim(), name);
          onClose();
        }}
      >
        {(wrong) => (
          <>
            {copyName !== undefined && (
              <Field label={t('copyName')} name="name" value={copyName} required wrong={wrong('name')} />
            )}
            <Field
              label={t('targetFolder')}
              hint={t('targetHint')}
              name="folder"
              value={folder.value}
              wrong={wrong('folder') ?? wrong('set') ?? wrong('to')}
              onInput={set}
            />
            <Neighbours folder={folder.value} onGo={set} />
          </>
        )}
      </Form>
    </Sheet>
  );
}

interface NeighboursProps {
  readonly folder: string;
  readonly onGo: (folder: string) => void;
}

/** The folders below the one that is named, to choose instead of typing. */
function Neighbours({ folder, onGo }: NeighboursProps) {
  const { model, t, spaceId } = useBrowsing();
  const at = folder.trim().replace(/^\/+|\/+$/g, '');
  const below = useLoad(
    async (signal) => {
      const query = { prefix: at, limit: 100, ...(spaceId && { space_id: spaceId }) };
      return (await model.user.files.folders(query, { signal }).page()).folders;
    },
    [at],
  );
  const names = below.data ?? [];
  if (at === '' && names.length === 0) return null;
  return (
    <fieldset class="neighbours">
      {names.length > 0 && <legend>{t('targetInside')}</legend>}
      {at !== '' && (
        <Button icon="up" onPress={() => onGo(parentOf(at))}>
          {t('targetUp')}
        </Button>
      )}
      {names.map((name) => (
        <Button key={name} icon="folder" onPress={() => onGo(joinFolder(at, name))}>
          <bdi class="label">{name}</bdi>
        </Button>
      ))}
    </fieldset>
  );
}
