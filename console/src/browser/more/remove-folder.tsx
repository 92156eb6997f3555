// Asks before the folder that is shown is deleted with everything below it.
import { useBrowsing } from '../context.ts';
import type { MoreProps } from '../more-request.ts';
import { parentOf } from '../paths.ts';
import { Form } from './form.tsx';
import { Sheet } from './sheet.tsx';

export function RemoveFolder({ delivery, onClose }: Omit<MoreProps, 'request'>) {
  const { model, t, go, spaceId } = useBrowsing();
  const folder = model.listing.folder.peek();
  const remove = async () => {
    const { files } = await delivery.folders.delete({
      prefix: folder,
      ...(spaceId && { space_id: spaceId }),
    });
    model.toasts.show({ text: t('deleted', { count: files }) }, 5_000);
    model.quota.refresh();
    onClose();
    go(parentOf(folder));
  };
  return (
    <Sheet title={t('removeFolderTitle')} subject={folder} onClose={onClose}>
      <Form action={t('removeFolder')} kind="danger" onCancel={onClose} onSubmit={remove}>
        {() => <p>{t('removeFolderHint')}</p>}
      </Form>
    </Sheet>
  );
}
