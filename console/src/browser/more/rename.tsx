// Renames a file: names never change, so the service copies it under the new name, then the old one is deleted.
import type { ListedFile } from '@pakhus/client';
import { useBrowsing } from '../context.ts';
import type { MoreProps } from '../more-request.ts';
import { Field, Form } from './form.tsx';
import { Sheet } from './sheet.tsx';

interface RenameProps extends Omit<MoreProps, 'request'> {
  readonly file: ListedFile;
}

export function Rename({ file, delivery, onClose }: RenameProps) {
  const { model, t, openFile, selectedFileId } = useBrowsing();
  const { listing, selection, user } = model;
  const rename = async (name: string) => {
    if (name === '' || name === file.name) return onClose();
    const copy = await delivery.files.copy(file.id, { name });
    // A copy does not take it over.
    if (file.expires_at) await user.files.update(copy.id, { expires_at: file.expires_at });
    try {
      await user.files.delete(file.id);
      listing.remove(new Set([file.id]));
    } catch {
      model.toasts.show({ text: t('renameKept'), isError: true });
    }
    listing.add(copy);
    selection.selectOnly(Math.max(0, listing.indexOf(copy.id)));
    model.quota.refresh();
    onClose();
    if (selectedFileId === file.id) openFile(copy.id);
    else model.wantsFocus.value = true;
  };
  return (
    <Sheet title={t('renameTitle')} onClose={onClose}>
      <Form action={t('rename')} onCancel={onClose} onSubmit={({ name = '' }) => rename(name.trim())}>
        {(wrong) => (
          <>
            <Field label={t('renameName')} name="name" value={file.name} required wrong={wrong('name')} />
            <p class="soft">{t('renameHint')}</p>
          </>
        )}
      </Form>
    </Sheet>
  );
}
