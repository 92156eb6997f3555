// A table that becomes a list of cards on a phone.
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly kind?: 'head' | 'text' | 'number' | 'actions';
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways must be reachable by keyboard
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table class="table responsive">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th key={title} scope="col" class={kind}>
                {kind === 'actions' ? <span class="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <Cell key={column.title} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cell<Row>({ column: { title, kind, cell }, row }: { column: Column<Row>; row: Row }) {
  if (kind === 'head') return <th scope="row">{cell(row)}</th>;
  return (
    <td class={kind} data-label={kind === 'actions' ? undefined : title}>
      {cell(row)}
    </td>
  );
}
