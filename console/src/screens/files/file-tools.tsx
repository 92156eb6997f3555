// Above the file browser: search, order and the trash.
import { setQuery } from '../../frame/router.tsx';
import { useTypedQuery } from '../../frame/typed-query.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/field.tsx';
import type { Order } from './order.ts';

interface FileToolsProps {
  readonly q: string;
  readonly order: Order | null;
  readonly isTrash: boolean;
}

export const openTrash = (): void => setQuery({ view: 'trash', q: null, sort: null, file: null });

export function FileTools({ q, order, isTrash }: FileToolsProps) {
  const texts = t.files;
  const typed = useTypedQuery(q);
  if (isTrash)
    return (
      <div class="row">
        <Button size="small" icon="back" onPress={() => setQuery({ view: null })}>
          {texts.backToFolders}
        </Button>
      </div>
    );
  return (
    <search class="toolbar">
      <Field
        label={texts.search}
        name="q"
        type="search"
        maxLength={100}
        value={typed.value}
        onInput={(value) => {
          typed.value = value;
        }}
      />
      <Select
        label={texts.sort}
        name="sort"
        value={order ?? ''}
        options={Object.entries(texts.sorts).map(([name, text]) => [name === 'folders' ? '' : name, text])}
        onChange={(sort) => setQuery({ sort })}
      />
      <Button size="small" icon="trash" onPress={openTrash}>
        {texts.trash.open}
      </Button>
    </search>
  );
}
