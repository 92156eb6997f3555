// The audit log with its filters, for the admin and for owners.
import './audit.css';
import type { AuditEntry } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { usePages } from '../../browser/load.ts';
import { address, setQuery } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { formatTime } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { ApiName, Empty, Foreign } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { EntryDialog } from './entry-dialog.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { emptyFilter, isAdmin, readAudit, readFilter } from './filter.ts';
import { Filters } from './filters.tsx';

const pageRows = 50;

export function Audit() {
  const filter = readFilter(address.value.query);
  const key = JSON.stringify(filter);
  const pages = usePages<AuditEntry>(
    async (cursor, signal) => {
      const { logs, next_cursor } = await readAudit(filter, { cursor, limit: pageRows }, signal);
      return { items: logs, next_cursor };
    },
    [key],
  );
  const shown = useSignal<AuditEntry | null>(null);
  const isExporting = useSignal(false);
  const texts = t.audit;
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        <div class="row">
          <Button icon="refresh" onPress={pages.reload}>
            {texts.reload}
          </Button>
          <Button
            icon="download"
            onPress={() => {
              isExporting.value = true;
            }}
          >
            {texts.export}
          </Button>
        </div>
      </div>
      <p class="soft">{isAdmin() ? texts.hintAdmin : texts.hintOwner}</p>
      <Filters filter={filter} />
      <ShowPages of={pages} empty={<NoRows isFiltered={Object.keys(filter).length > 0} />}>
        {(rows) => (
          <Table
            caption={texts.title}
            columns={columnsFor((entry) => {
              shown.value = entry;
            })}
            rows={rows}
            keyOf={(row) => row.id}
          />
        )}
      </ShowPages>
      {shown.value && (
        <EntryDialog
          entry={shown.value}
          onClose={() => {
            shown.value = null;
          }}
        />
      )}
      {isExporting.value && (
        <ExportDialog
          filter={filter}
          onClose={() => {
            isExporting.value = false;
          }}
        />
      )}
    </div>
  );
}

const columnsFor = (onOpen: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] => [
  { title: t.audit.action, kind: 'head', cell: (entry) => <ActionName action={entry.action} /> },
  {
    title: t.audit.when,
    cell: ({ created_at: at }) => (
      <time dateTime={at} title={at}>
        {formatTime(at)}
      </time>
    ),
  },
  { title: t.audit.actor, cell: (entry) => t.audit.actors[entry.actor_type] },
  {
    title: t.audit.resource,
    cell: (entry) => <Foreign>{entry.resource_type}</Foreign>,
  },
  { title: t.audit.address, cell: (entry) => <Foreign>{entry.ip_address ?? t.ui.none}</Foreign> },
  {
    title: t.audit.details,
    kind: 'actions',
    cell: (entry) => (
      <Button size="small" onPress={() => onOpen(entry)}>
        {t.audit.details}
      </Button>
    ),
  },
];

/** A row may be older than this console. */
const ActionName = ({ action }: { action: string }) => (
  <ApiName name={action} words={(t.audit.actions as Readonly<Record<string, string>>)[action]} />
);

const NoRows = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty
      icon="search"
      title={t.audit.empty}
      action={<Button onPress={() => setQuery(emptyFilter)}>{t.audit.clear}</Button>}
    >
      {t.audit.emptyHint}
    </Empty>
  ) : (
    <Empty icon="audit" title={t.audit.emptyAll}>
      {t.audit.emptyAllHint}
    </Empty>
  );
