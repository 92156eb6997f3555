// Files of all folders, found by a part of their name, in an order of their own.
import type { ListedFile } from '@pakhus/client';
import { readFound } from '../../browser/found.ts';
import { startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { address, Link, path, setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { formatBytes } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { Empty, Foreign, Time } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Order } from './order.ts';

interface SearchResultsProps {
  readonly userId: string;
  readonly spaceId: string | undefined;
  readonly q: string;
  readonly order: Order | null;
}

/** Shorter ones are refused. */
const qMin = 2;
const pageSize = 50;

export function SearchResults(props: SearchResultsProps) {
  const length = props.q.length;
  if (length > 0 && length < qMin) return <p class="soft">{t.files.tooShort}</p>;
  return <Results {...props} />;
}

function Results({ userId, spaceId, q, order }: SearchResultsProps) {
  const texts = t.files;
  const found = usePages(
    (cursor, signal) => {
      const query = {
        ...(q && { q }),
        ...(order && { sort: order }),
        ...(spaceId && { space_id: spaceId }),
        limit: pageSize,
        ...startAt(cursor),
      };
      return readFound(client.user({ id: userId }).files.list, query, signal);
    },
    [userId, spaceId, q, order],
  );
  return (
    <ShowPages
      of={found}
      empty={
        <Empty
          icon="search"
          title={texts.noneFound}
          action={<Button onPress={() => setQuery({ q: null, sort: null })}>{texts.backToFolders}</Button>}
        >
          {texts.noneFoundHint}
        </Empty>
      }
    >
      {(files) => (
        <Table
          caption={q ? texts.results : texts.all}
          columns={columns()}
          rows={files}
          keyOf={({ id }) => id}
        />
      )}
    </ShowPages>
  );
}

/** In its folder, where everything can be done with it. */
function toAddress({ id, folder }: ListedFile): string {
  const query = new URLSearchParams(address.value.query);
  query.delete('q');
  query.delete('sort');
  query.set('folder', folder);
  query.set('file', id);
  return `${path.value}?${query}`;
}

const columns = (): readonly Column<ListedFile>[] => {
  const texts = t.files;
  return [
    {
      title: texts.name,
      kind: 'head',
      cell: (file) => (
        <Link to={toAddress(file)}>
          <Foreign>{file.name}</Foreign>
        </Link>
      ),
    },
    {
      title: texts.folder,
      cell: ({ folder }) => (folder ? <Foreign>{folder}</Foreign> : <span class="soft">{texts.root}</span>),
    },
    { title: texts.size, kind: 'number', cell: ({ size }) => formatBytes(size) },
    { title: texts.added, cell: ({ created_at }) => <Time at={created_at} /> },
  ];
};
