// Prints measures as a table.

/** A measure is `{ name, figure, unit, target? }`, a target `{ atLeast }` or `{ atMost }`. */
export function tableOf(measures) {
  const rows = [
    ['MEASURE', 'FIGURE', 'UNIT', 'TARGET', ''],
    ...measures.map((measure) => [
      measure.name,
      shown(measure.figure),
      measure.unit,
      targetText(measure.target),
      verdictOf(measure),
    ]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 1 ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Null without a target or without a figure. */
export function isMet({ figure, target }) {
  if (!target || !Number.isFinite(figure)) return null;
  return target.atLeast === undefined ? figure <= target.atMost : figure >= target.atLeast;
}

function verdictOf(measure) {
  const met = isMet(measure);
  return met === null ? '' : met ? 'met' : 'NOT MET';
}

const targetText = (target) =>
  !target ? '' : target.atLeast === undefined ? `<= ${target.atMost}` : `>= ${target.atLeast}`;

function shown(figure) {
  if (!Number.isFinite(figure)) return '-';
  if (figure >= 100) return Math.round(figure).toLocaleString('en');
  return figure.toFixed(figure >= 10 ? 1 : 3);
}
