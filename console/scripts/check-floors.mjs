// Fails on an import of src/ that goes up a floor, on a cycle, and on a package that only the tests or the build may use.
import { fileURLToPath } from 'node:url';
import { findCycles, readSources } from '../../scripts/import-graph.mjs';

/** From the ground up. The browser is also the inside of <pakhus-files>: it knows nothing of the console. */
const floors = [['styles'], ['texts', 'browser'], ['ui'], ['frame'], ['screens']];
const packages = /^(preact|@preact\/signals|@pakhus\/client|uqr)$/;

const findFloor = (file) => {
  const [folder, name] = file.split('/');
  return name === undefined ? floors.length : floors.findIndex((names) => names.includes(folder));
};

const sources = readSources(fileURLToPath(new URL('../src', import.meta.url)));
const complaints = [];
for (const [file, imports] of sources) {
  if (findFloor(file) < 0) complaints.push(`${file} is on no floor`);
  for (const target of imports.files) {
    if (findFloor(target) > findFloor(file)) complaints.push(`${file} imports upwards: ${target}`);
    if (file.startsWith('browser/') && target.startsWith('texts/'))
      complaints.push(`${file} uses a text of the console: ${target}`);
  }
  for (const name of imports.packages) if (!packages.test(name)) complaints.push(`${file} imports ${name}`);
}
const graph = new Map([...sources].map(([file, { files }]) => [file, new Set(files)]));
complaints.push(...findCycles(graph).map((cycle) => `a cycle of files: ${cycle.join(' -> ')}`));
for (const complaint of complaints) console.error(`floors: ${complaint}`);
process.exitCode = complaints.length > 0 ? 1 : 0;
