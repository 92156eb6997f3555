// All projects with what they store, and the way to a new one.
import './admin.css';
import type { AnswerOf, Project } from '@pakhus/client';
import { usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { address, Link, setQuery } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { ActiveBadge, Empty, Foreign } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { CreateProject } from './create-project.tsx';

type Stats = AnswerOf<'GET /admin/stats/projects'>['projects'][number];

interface Row {
  readonly project: Project;
  /** Null for a project that was made between the two reads. */
  readonly stats: Stats | null;
}

const pageRows = 50;

/** Two lists in the same order make one, with both cursors in one. */
async function readPage(cursor: string | undefined, signal: AbortSignal) {
  const [ofList, ofStats] = cursor ? (JSON.parse(cursor) as [string, string | null]) : [undefined, undefined];
  const at = (place: string | undefined | null) => ({ limit: pageRows, ...(place && { cursor: place }) });
  const [list, stats] = await Promise.all([
    client.admin.projects.list(at(ofList), { signal }).page(),
    client.admin.stats.projects(at(ofStats), { signal }).page(),
  ]);
  const byId = new Map(stats.projects.map((entry) => [entry.id, entry]));
  return {
    items: list.projects.map((project): Row => ({ project, stats: byId.get(project.id) ?? null })),
    next_cursor: list.next_cursor && JSON.stringify([list.next_cursor, stats.next_cursor]),
  };
}

const openCreate = () => setQuery({ create: '1' });
const closeCreate = () => setQuery({ create: null }, { replace: true });

export function Projects() {
  const pages = usePages<Row>(readPage, []);
  const texts = t.admin.projects;
  const createButton = (
    <Button kind="primary" icon="plus" onPress={openCreate}>
      {texts.create}
    </Button>
  );
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        {pages.items !== null && pages.items.length > 0 && createButton}
      </div>
      <ShowPages
        of={pages}
        empty={
          <Empty icon="projects" title={texts.empty} action={createButton}>
            {texts.emptyHint}
          </Empty>
        }
      >
        {(rows) => (
          <Table caption={texts.title} columns={columns()} rows={rows} keyOf={({ project }) => project.id} />
        )}
      </ShowPages>
      {address.value.query.has('create') && <CreateProject onCreated={pages.reload} onClose={closeCreate} />}
    </div>
  );
}

const columns = (): readonly Column<Row>[] => {
  const texts = t.admin.projects;
  const figure = (format: (stats: Stats) => string) => (row: Row) => row.stats && format(row.stats);
  return [
    {
      title: texts.name,
      kind: 'head',
      cell: ({ project }) => (
        <Link to={`/projects/${project.id}`} class="breakable">
          <Foreign>{project.name}</Foreign>
        </Link>
      ),
    },
    {
      title: texts.email,
      cell: ({ project }) => (
        <span class="breakable">
          <Foreign>{project.email}</Foreign>
        </span>
      ),
    },
    { title: texts.state, cell: ({ project }) => <ActiveBadge active={project.active} /> },
    { title: texts.users, kind: 'number', cell: figure(({ users }) => formatNumber(users)) },
    { title: texts.files, kind: 'number', cell: figure(({ files }) => formatNumber(files)) },
    { title: texts.storage, kind: 'number', cell: figure(({ bytes }) => formatBytes(bytes)) },
    { title: texts.requests, kind: 'number', cell: figure((stats) => formatNumber(stats.requests_30d)) },
  ];
};
