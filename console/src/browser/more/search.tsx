// Finds files of all folders by a part of their name.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useBrowsing } from '../context.ts';
import { readFound } from '../found.ts';
import { Icon } from '../icons.tsx';
import { kindOf } from '../kinds.ts';
import { startAt, usePages } from '../load.ts';
import { Field } from './form.tsx';
import { Facts, ShowPages } from './pages.tsx';
import { Sheet } from './sheet.tsx';

/** Shorter ones are refused. */
const qMin = 2;
const qMax = 100;
const pageSize = 50;
const typingPauseMs = 250;

export function Search({ onClose }: { readonly onClose: () => void }) {
  const { t } = useBrowsing();
  const typed = useSignal('');
  const q = useSignal('');
  useEffect(() => {
    const timer = setTimeout(() => {
      q.value = typed.value.trim();
    }, typingPauseMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const length = [...q.value].length;
  return (
    <Sheet title={t('search')} onClose={onClose}>
      <search>
        <Field
          label={t('searchField')}
          name="q"
          type="search"
          maxLength={qMax}
          hint={length > 0 && length < qMin ? t('searchShort') : t('searchHint')}
          value={typed.value}
          onInput={(value) => {
            typed.value = value;
          }}
        />
      </search>
      {length >= qMin && <Found key={q.value} q={q.value} onClose={onClose} />}
    </Sheet>
  );
}

function Found({ q, onClose }: { readonly q: string; readonly onClose: () => void }) {
  const { model, t, spaceId } = useBrowsing();
  const { list } = model.user.files;
  const found = usePages(
    (cursor, signal) => {
      const query = { q, limit: pageSize, ...(spaceId && { space_id: spaceId }), ...startAt(cursor) };
      return readFound(list, query, signal);
    },
    [q],
  );
  return (
    <div role="status">
      <ShowPages of={found} label={t('searchFound')} empty={t('searchNone')} keyOf={({ id }) => id}>
        {(file) => <Hit file={file} onClose={onClose} />}
      </ShowPages>
    </div>
  );
}

/** Leads to the folder of the file, where everything can be done with it. */
function Hit({ file, onClose }: { readonly file: ListedFile; readonly onClose: () => void }) {
  const { t, texts, isPicker, go, openFile, pick } = useBrowsing();
  const kind = kindOf(file.mimeType);
  const open = () => {
    onClose();
    if (isPicker) return pick([file]);
    go(file.folder);
    openFile(file.id);
  };
  return (
    <button type="button" class="hit" onClick={open}>
      <span class={`symbol kind-${kind}`}>
        <Icon name={kind} />
      </span>
      <span class="entry-text">
        <bdi class="label">{file.name}</bdi>
        <Facts
          items={[file.folder || t('rootFolder'), texts.bytes(file.size), texts.date(file.created_at)]}
        />
      </span>
    </button>
  );
}
