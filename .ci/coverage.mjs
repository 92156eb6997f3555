// Prints the branches of server/src that the last run covered, by folder, and fails below the floor. Code that runs only
// in child processes of the tests (the command line, the image worker) is excluded in vitest.config.ts.
import { readFileSync, writeFileSync } from 'node:fs';

/** Slightly below the measured figure. Raise it when the figure rises. */
const floorPercent = 90.5;

const { total, ...files } = JSON.parse(
  readFileSync('server/coverage/branches/coverage-summary.json', 'utf8'),
);
const folders = new Map();
for (const [path, { branches }] of Object.entries(files)) {
  const folder = folderOf(path.split('/server/src/')[1]);
  const sum = folders.get(folder) ?? { covered: 0, total: 0 };
  folders.set(folder, { covered: sum.covered + branches.covered, total: sum.total + branches.total });
}

const rows = [...folders].sort(([a], [b]) => a.localeCompare(b));
const lines = [...rows, ['all', total.branches]].map(
  ([folder, { covered, total: all }]) =>
    `${folder.padEnd(24)} ${String(covered).padStart(5)} of ${String(all).padStart(5)}  ${percent(covered, all)}`,
);
writeFileSync('server/coverage/branches.txt', `${lines.join('\n')}\n`);
console.log(lines.join('\n'));
if (total.branches.pct < floorPercent) {
  console.error(`${total.branches.pct} % of branches are covered; the floor is ${floorPercent} %`);
  process.exit(1);
}

/** `platform/db`, `features/files`; files directly in src/ count as one folder. */
function folderOf(path) {
  const parts = path.split('/').slice(0, -1);
  return parts.slice(0, 2).join('/') || '(top)';
}

function percent(covered, all) {
  return all === 0 ? '' : `${((100 * covered) / all).toFixed(1)} %`.padStart(7);
}
