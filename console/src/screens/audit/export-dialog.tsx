// Saves what the filters match as a file, page by page.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../texts/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { formatNumber } from '../../ui/format.ts';
import { saveFile } from '../../ui/save.ts';
import { showToast } from '../../ui/toasts.tsx';
import { csvHead, toCsv, toJsonLines } from './export-rows.ts';
import { type AuditFilter, readAudit } from './filter.ts';

/** What a spreadsheet still opens, and a browser keeps in memory without trouble. */
const rowsMax = 100_000;
const pageRows = 100;

const formats = {
  csv: { head: csvHead, toText: toCsv, type: 'text/csv', ending: 'csv' },
  jsonl: { head: '', toText: toJsonLines, type: 'application/x-ndjson', ending: 'jsonl' },
} as const;

interface ExportDialogProps {
  readonly filter: AuditFilter;
  readonly onClose: () => void;
}

export function ExportDialog({ filter, onClose }: ExportDialogProps) {
  const rowCount = useSignal<number | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const texts = t.audit;

  const save = async (format: (typeof formats)[keyof typeof formats]) => {
    const turn = new AbortController();
    running.current = turn;
    rowCount.value = 0;
    try {
      const parts: string[] = [format.head];
      let rows = 0;
      let cursor: string | undefined;
      do {
        const page = await readAudit(filter, { cursor, limit: pageRows }, turn.signal);
        parts.push(format.toText(page.logs));
        rows += page.logs.length;
        rowCount.value = rows;
        cursor = page.next_cursor ?? undefined;
      } while (cursor && rows < rowsMax);
      saveFile(`audit-${new Date().toISOString().slice(0, 10)}.${format.ending}`, format.type, parts);
      showToast(cursor ? texts.exportCut(formatNumber(rows)) : texts.exportDone(formatNumber(rows)));
      onClose();
    } catch (error) {
      if (!turn.signal.aborted) throw error;
    } finally {
      rowCount.value = null;
    }
  };
  const stop = () => (rowCount.value === null ? onClose() : running.current?.abort());
  return (
    <Dialog title={texts.exportTitle} onClose={onClose}>
      <p>{texts.exportHint(formatNumber(rowsMax))}</p>
      <Form
        submit={texts.exportStart}
        cancel={{ label: rowCount.value === null ? t.ui.cancel : texts.exportStop, onPress: stop }}
        onSubmit={({ format }) => save(format === 'jsonl' ? formats.jsonl : formats.csv)}
      >
        {() => (
          <>
            <Select
              label={texts.exportAs}
              name="format"
              options={[
                ['csv', texts.csv],
                ['jsonl', texts.jsonLines],
              ]}
            />
            <p role="status">
              {rowCount.value !== null && texts.exportRunning(formatNumber(rowCount.value))}
            </p>
          </>
        )}
      </Form>
    </Dialog>
  );
}
