// The facts of a file, and those that can be changed in place.
import type { FileChange, StoredFile } from '@pakhus/client';
import { Button } from './button.tsx';
import { useBrowsing } from './context.ts';
import { EditableField, type FieldKind } from './editable.tsx';
import { DetailsIcon } from './icons.details.tsx';
import type { Detail } from './state/detail.ts';
import { detailsEnglish } from './texts.details.en.ts';
import { toLocalTime, toTime } from './times.ts';

interface DetailsProps {
  readonly detail: Detail;
  readonly file: StoredFile;
}

export function Details({ detail, file }: DetailsProps) {
  const { texts, t, model, can } = useBrowsing();
  const save = async (change: FileChange) => {
    const saved = await detail.save(change);
    model.listing.replace(saved);
    model.toasts.announce(t('saved'));
  };
  const edit = { save, reload: () => void detail.load(), canEdit: can.edit };
  const field = (kind: FieldKind) => <EditableField key={kind.name} kind={kind} file={file} {...edit} />;
  return (
    <aside class="details" part="details" aria-label={t('details')}>
      <dl>
        <Fact name={t('size')}>
          {texts.bytes(file.size)} <small>({texts.number(file.size)})</small>
        </Fact>
        <Fact name={t('type')}>{file.mimeType}</Fact>
        <Fact name={t('created')}>{texts.dateTime(file.created_at)}</Fact>
        {file.updated_at !== file.created_at && (
          <Fact name={t('updated')}>{texts.dateTime(file.updated_at)}</Fact>
        )}
      </dl>
      <Copies file={file} />
      {fields.map(field)}
      <dl>
        {file.sha256 && (
          <Fact name={t('checksum')} isCode>
            {file.sha256}
          </Fact>
        )}
        <Fact name={t('id')} isCode>
          {file.id}
        </Fact>
        {file.space_id && (
          <Fact name={t('space')} isCode>
            {file.space_id}
          </Fact>
        )}
      </dl>
    </aside>
  );
}

Details.texts = detailsEnglish;

interface FactProps {
  readonly name: string;
  readonly isCode?: boolean;
  readonly children: preact.ComponentChildren;
}

const Fact = ({ name, isCode, children }: FactProps) => (
  <div class="fact">
    <dt>{name}</dt>
    <dd class={isCode ? 'mono' : ''}>{children}</dd>
  </div>
);

function Copies({ file }: { readonly file: StoredFile }) {
  const { model, t, texts } = useBrowsing();
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      model.toasts.show({ text: t('copied') }, 3000);
    } catch {
      model.toasts.show({ text: t('copyFailed'), isError: true }, 5000);
    }
  };
  return (
    <div class="copies">
      <Button onPress={() => void copy(file.url)}>
        <DetailsIcon name="link" />
        {t('copyLink')}
      </Button>
      <Button onPress={() => void copy(file.id)}>
        <DetailsIcon name="copy" />
        {t('copyId')}
      </Button>
      {file.url_expires_at && (
        <small>{t('linkExpires', { time: texts.dateTime(file.url_expires_at) })}</small>
      )}
    </div>
  );
}

const folderField: FieldKind = {
  name: 'folder',
  read: (file) => file.folder,
  empty: 'rootFolder',
  parse: (text) => ({ folder: text.trim() }),
};

const visibilityField: FieldKind = {
  name: 'visibility',
  options: ['private', 'public'],
  read: (file) => file.visibility,
  parse: (text) => ({ visibility: text === 'public' ? 'public' : 'private' }),
};

const tagsField: FieldKind = {
  name: 'tags',
  hint: 'tagsHint',
  read: (file) => file.tags.join(', '),
  chips: (file) => file.tags,
  parse: (text) => ({
    tags: text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  }),
};

const classifierField: FieldKind = {
  name: 'classifier',
  read: (file) => file.classifier ?? '',
  parse: (text) => ({ classifier: text.trim() || null }),
};

const metadataField: FieldKind = {
  name: 'metadata',
  hint: 'metadataHint',
  isCode: true,
  read: ({ metadata }) => (Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata, null, 2)),
  invalid: 'metadataInvalid',
  parse: (text) => {
    const metadata: unknown = JSON.parse(text.trim() || '{}');
    const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
    if (!isObject) throw new SyntaxError('not an object');
    return { metadata: metadata as Record<string, unknown> };
  },
};

const expiresField: FieldKind = {
  name: 'expires_at',
  hint: 'expiresHint',
  empty: 'never',
  invalid: 'expiresInvalid',
  time: (file) => file.expires_at,
  read: (file) => toLocalTime(file.expires_at),
  parse: (text, { expires_at }) => ({
    expires_at: text === '' ? null : toTime(text, expires_at, Date.now()),
  }),
};

/** The service refuses it from anybody but the owner. */
const retainField: FieldKind = {
  name: 'retain_until',
  hint: 'retainHint',
  empty: 'notHeld',
  invalid: 'retainInvalid',
  time: (file) => file.retain_until,
  read: (file) => toLocalTime(file.retain_until),
  parse: (text, { retain_until: before }) => {
    if (text === '' && before === undefined) return {};
    const earliest = Math.max(Date.now(), before === undefined ? 0 : Date.parse(before));
    return { retain_until: toTime(text, before, earliest) };
  },
};

const fields = [
  folderField,
  visibilityField,
  tagsField,
  classifierField,
  metadataField,
  expiresField,
  retainField,
];
