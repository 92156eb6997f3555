// Links that exist: what became of each, and what can be done with it.
import type { Share } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { ErrorView } from '../error-view.tsx';
import type { Pages } from '../load.ts';
import type { Delivery } from '../more-request.ts';
import { Form } from './form.tsx';
import { Facts, ShowPages } from './pages.tsx';
import { ShareFields } from './share-fields.tsx';
import { readShareChange } from './share-values.ts';

interface ShareListProps {
  readonly pages: Pages<Share>;
  readonly label: string;
  readonly delivery: Delivery;
  /** Where links to several files are listed. */
  readonly fileName?: (share: Share) => string;
}

export function ShareList({ pages, label, delivery, fileName }: ShareListProps) {
  const { t } = useBrowsing();
  return (
    <ShowPages of={pages} label={label} empty={t('linksNone')} keyOf={({ id }) => id}>
      {(share) => (
        <Link share={share} delivery={delivery} reload={pages.reload} fileName={fileName?.(share)} />
      )}
    </ShowPages>
  );
}

interface LinkProps {
  readonly share: Share;
  readonly delivery: Delivery;
  readonly fileName: string | undefined;
  reload(): Promise<void>;
}

function Link({ share, delivery, fileName, reload }: LinkProps) {
  const { t } = useBrowsing();
  const isEdited = useSignal(false);
  const error = useSignal<unknown>(null);
  const { file_id, id, active } = share;
  const close = () => {
    isEdited.value = false;
  };
  type Shares = Awaited<ReturnType<Delivery['shares']>>;
  const run = async (act: (shares: Shares) => Promise<unknown>) => {
    error.value = null;
    try {
      await act(await delivery.shares());
      await reload();
    } catch (failed) {
      error.value = failed;
    }
  };
  if (isEdited.value)
    return (
      <Form
        action={t('saveChange')}
        onCancel={close}
        onSubmit={async (values) => {
          const shares = await delivery.shares();
          await shares.update(file_id, id, readShareChange(values, share));
          close();
          await reload();
        }}
      >
        {(wrong) => <ShareFields wrong={wrong} share={share} />}
      </Form>
    );
  return (
    <>
      <ShareText share={share} fileName={fileName} />
      <span class="entry-buttons">
        <Button
          icon="edit"
          onPress={() => {
            isEdited.value = true;
          }}
        >
          {t('shareEdit')}
        </Button>
        <Button onPress={() => void run((shares) => shares.update(file_id, id, { active: !active }))}>
          {t(active ? 'shareRevoke' : 'shareActivate')}
        </Button>
        <Button kind="danger" onPress={() => void run((shares) => shares.delete(file_id, id))}>
          {t('shareDelete')}
        </Button>
      </span>
      {error.value !== null && <ErrorView error={error.value} />}
    </>
  );
}

function ShareText({ share, fileName }: Pick<LinkProps, 'share' | 'fileName'>) {
  const { t, texts } = useBrowsing();
  const { name, created_at, expires_at, downloads, max_downloads, has_password, active } = share;
  const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const isUsedUp = max_downloads !== null && downloads >= max_downloads;
  const title = name ?? t('shareSince', { time: texts.dateTime(created_at) });
  const facts = [
    fileName !== undefined && title,
    max_downloads === null
      ? t('shareDownloads', { count: downloads })
      : t('shareDownloadsOf', { count: downloads, max: max_downloads }),
    expires_at && !isOver && t('shareEnds', { time: texts.dateTime(expires_at) }),
    has_password && t('shareLocked'),
  ];
  return (
    <span class="entry-text">
      <bdi class="label">{fileName ?? title}</bdi>
      <Facts items={facts} />
      {(!active || isOver || isUsedUp) && (
        <span class="badge">{t(active ? 'shareEnded' : 'shareRevoked')}</span>
      )}
    </span>
  );
}
