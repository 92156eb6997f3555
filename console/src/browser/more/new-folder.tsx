// Opens a folder that has no file yet: it exists as soon as a file is in it.
import { useSignal } from '@preact/signals';
import { useBrowsing } from '../context.ts';
import { joinFolder, toFolderName } from '../paths.ts';
import { Field, Form } from './form.tsx';
import { Sheet } from './sheet.tsx';

export function NewFolder({ onClose }: { readonly onClose: () => void }) {
  const { model, t, go } = useBrowsing();
  const isWrong = useSignal(false);
  const open = async (given = '') => {
    const name = toFolderName(given);
    isWrong.value = name === null;
    if (name === null) return;
    onClose();
    go(joinFolder(model.listing.folder.peek(), name));
  };
  return (
    <Sheet title={t('newFolder')} onClose={onClose}>
      <Form action={t('newFolderOpen')} onCancel={onClose} onSubmit={({ name }) => open(name)}>
        {() => (
          <Field
            label={t('newFolderName')}
            name="name"
            required
            hint={t('newFolderHint')}
            wrong={isWrong.value ? t('folderNameInvalid') : undefined}
          />
        )}
      </Form>
    </Sheet>
  );
}
