// Shares a file by links: makes one, shows it once, and lists those that exist.
import type { ListedFile, Share } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { type Pages, startAt, usePages } from '../../browser/load.ts';
import type { FormValues } from '../../browser/submit.ts';
import { type NewShare, shares } from '../../frame/delivery.ts';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { formatNumber } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { Badge, Foreign, Time } from '../../ui/parts.tsx';
import { CopyField } from '../../ui/secret.tsx';
import { readInteger } from '../../ui/size-field.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';

interface ShareDialogProps {
  readonly userId: string;
  readonly file: ListedFile;
  readonly onClose: () => void;
}

export function ShareDialog({ userId, file, onClose }: ShareDialogProps) {
  const texts = t.files.shares;
  const url = useSignal<string | null>(null);
  const existing = usePages(
    async (cursor, signal) => {
      const page = await shares.list(userId, file.id, startAt(cursor), signal);
      return { items: page.shares, next_cursor: page.next_cursor };
    },
    [userId, file.id],
  );
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p>
        <strong>
          <Foreign>{file.name}</Foreign>
        </strong>
      </p>
      {url.value === null ? (
        <>
          <p class="soft">{texts.hint}</p>
          <Form
            submit={texts.create}
            onSubmit={async (values) => {
              url.value = (await shares.create(userId, file.id, readShare(values))).url;
              await existing.reload();
            }}
          >
            {(wrong) => <ShareFields wrong={wrong} />}
          </Form>
        </>
      ) : (
        <div class="stack tight" role="status">
          <p>{texts.linkHint}</p>
          <CopyField value={url.value} label={texts.link} />
        </div>
      )}
      <h3>{texts.existing}</h3>
      <Existing
        pages={existing}
        onRevoke={(share) =>
          attempt(async () => {
            await shares.delete(userId, file.id, share.id);
            showToast(texts.revoked);
            await existing.reload();
          })
        }
      />
    </Dialog>
  );
}

function ShareFields({ wrong }: { wrong: (field: string) => string | undefined }) {
  const texts = t.files.shares;
  return (
    <>
      <div class="pair">
        <Field
          label={texts.expires}
          hint={texts.optional}
          name="expires_at"
          type="datetime-local"
          wrong={wrong('expires_at')}
        />
        <Field
          label={texts.maxDownloads}
          hint={texts.optional}
          name="max_downloads"
          type="number"
          min={1}
          wrong={wrong('max_downloads')}
        />
      </div>
      <div class="pair">
        <Field
          label={texts.password}
          hint={texts.optional}
          name="password"
          type="password"
          autocomplete="new-password"
          maxLength={200}
          wrong={wrong('password')}
        />
        <Field label={texts.name} hint={texts.optional} name="name" maxLength={255} wrong={wrong('name')} />
      </div>
    </>
  );
}

const readShare = (values: FormValues): NewShare => ({
  // The field has the person's own time, without a zone.
  expires_at: values.expires_at ? new Date(values.expires_at).toISOString() : null,
  max_downloads: readInteger(values, 'max_downloads'),
  password: values.password || null,
  name: values.name?.trim() || null,
});

interface ExistingProps {
  readonly pages: Pages<Share>;
  readonly onRevoke: (share: Share) => unknown;
}

const Existing = ({ pages, onRevoke }: ExistingProps) => (
  <ShowPages of={pages} empty={<p class="soft">{t.files.shares.none}</p>}>
    {(items) => (
      <Table
        caption={t.files.shares.existing}
        columns={columns(onRevoke)}
        rows={items}
        keyOf={({ id }) => id}
      />
    )}
  </ShowPages>
);

const columns = (onRevoke: (share: Share) => unknown): readonly Column<Share>[] => {
  const texts = t.files.shares;
  return [
    { title: texts.link, kind: 'head', cell: (share) => <ShareName share={share} /> },
    {
      title: texts.downloads,
      cell: ({ downloads, max_downloads }) =>
        max_downloads === null
          ? formatNumber(downloads)
          : texts.of(formatNumber(downloads), formatNumber(max_downloads)),
    },
    { title: texts.ends, cell: ({ expires_at }) => <Time at={expires_at} /> },
    {
      title: t.files.actions,
      kind: 'actions',
      cell: (share) => (
        <Button size="small" kind="danger" onPress={() => onRevoke(share)}>
          {texts.revoke}
        </Button>
      ),
    },
  ];
};

function ShareName({ share }: { share: Share }) {
  const texts = t.files.shares;
  const isOver = share.expires_at !== null && Date.parse(share.expires_at) <= Date.now();
  const isUsedUp = share.max_downloads !== null && share.downloads >= share.max_downloads;
  return (
    <div class="row">
      {share.name ? <Foreign>{share.name}</Foreign> : <Time at={share.created_at} />}
      {share.has_password && <Badge>{texts.locked}</Badge>}
      {!share.active && <Badge tone="warn">{texts.inactive}</Badge>}
      {share.active && (isOver || isUsedUp) && <Badge tone="warn">{texts.over}</Badge>}
    </div>
  );
}
