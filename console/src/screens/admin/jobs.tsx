// Image jobs by state, the newest failures, and what to do about them.
import './admin.css';
import type { AuditEntry } from '@pakhus/client';
import { useLoad, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Show, ShowPages } from '../../ui/load.tsx';
import { Empty, Foreign, Time } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { JobCounts } from './job-counts.tsx';

const pageRows = 20;

export function Jobs() {
  const stats = useLoad((signal) => client.admin.stats.global({ signal }), []);
  const failures = usePages<AuditEntry>(async (cursor, signal) => {
    const query = { action: 'job.failed', limit: pageRows, ...(cursor && { cursor }) } as const;
    const { logs, next_cursor } = await client.admin.audit.list(query, { signal }).page();
    return { items: logs, next_cursor };
  }, []);
  const texts = t.admin.jobs;
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
      </div>
      <p class="soft">{texts.hint}</p>
      <Show of={stats}>{({ jobs }) => <JobCounts jobs={jobs} />}</Show>
      <section class="stack">
        <h2>{texts.failures}</h2>
        <ShowPages
          of={failures}
          empty={
            <Empty icon="check" title={texts.none}>
              {texts.noneHint}
            </Empty>
          }
        >
          {(rows) => (
            <Table caption={texts.failures} columns={columns()} rows={rows} keyOf={(row) => row.id} />
          )}
        </ShowPages>
      </section>
      <section class="card stack">
        <h2>{texts.todo}</h2>
        <ul class="bullets">
          <li>{texts.todoFailed}</li>
          <li>{texts.todoTimeout}</li>
          <li>{texts.todoWaiting}</li>
        </ul>
      </section>
    </div>
  );
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

const columns = (): readonly Column<AuditEntry>[] => {
  const texts = t.admin.jobs;
  return [
    {
      title: texts.reason,
      kind: 'head',
      cell: ({ metadata }) => (
        <span class="breakable">
          <Foreign>{toText(metadata.error)}</Foreign>
        </span>
      ),
    },
    {
      title: texts.file,
      cell: ({ metadata }) => (
        <span class="mono">
          <Foreign>{toText(metadata.file_id)}</Foreign>
        </span>
      ),
    },
    { title: texts.user, cell: ({ user_id }) => <span class="mono">{user_id}</span> },
    { title: texts.when, cell: ({ created_at }) => <Time at={created_at} /> },
  ];
};
