// Builds the import graph of src/, type imports included, and fails on
// - an import that goes up a floor
// - a cycle, between files or between the folders of features
// - a feature that imports the statements, routes or jobs of another
// - an import of a package, or a read of the environment, outside the one place allowed to
// - an import of another workspace
// - a source file that belongs to no floor
import { fileURLToPath } from 'node:url';
import { findCycles, readSources } from '../../scripts/import-graph.mjs';

const folders = [['kernel'], ['platform'], ['contract'], ['features'], ['http', 'jobs']];
/** The composition root: files directly in src/. */
const topFloor = folders.length;

/** Packages that only one place may import. */
const confined = {
  ajv: /^platform\/validation\.ts$/,
  'ajv-formats': /^platform\/validation\.ts$/,
  'fast-jwt': /^features\/credentials\/credentials\.tokens\.ts$/,
  fastify: /^http\//,
  pg: /^platform\/db\//,
  undici: /^platform\/(objects|outbound)\//,
  sharp: /^platform\/images\/image-child\.ts$/,
  ioredis: /^platform\/redis\.ts$/,
  'pg-boss': /^platform\/queue\//,
  nodemailer: /^platform\/mail\//,
  '@node-rs/crc32': /^platform\/hashing\/crc32\.ts$/,
  otpauth: /^kernel\/crypto\/totp\.ts$/,
};
/** They may know the service, but it does not know them. */
const otherWorkspaces = /^(@pakhus\/|pakhus$)/;
const readsEnvironment = /^(config|main|serve)\.ts$|^platform\//;

/** Checks the sources in a folder; returns one sentence for each violation. */
export function checkFloors(src) {
  const sources = readSources(src);
  const complaints = [];
  for (const [file, { text, files, packages }] of sources) {
    if (findFloor(file) < 0) complaints.push(`${file} is on no floor`);
    complaints.push(...files.flatMap((target) => checkImport(file, target)));
    for (const name of packages.filter((one) => otherWorkspaces.test(one)))
      complaints.push(`${file} imports from outside the service: ${name}`);
    for (const name of packages)
      if (confined[name] && !confined[name].test(file)) complaints.push(`${file} imports ${name}`);
    if (/process\.env\b/.test(text) && !readsEnvironment.test(file))
      complaints.push(`${file} reads the environment`);
  }
  const graph = new Map([...sources].map(([file, { files }]) => [file, new Set(files)]));
  complaints.push(...findCycles(graph).map((cycle) => `a cycle of files: ${cycle.join(' -> ')}`));
  const features = toFeatureGraph(graph);
  complaints.push(...findCycles(features).map((cycle) => `a cycle of features: ${cycle.join(' -> ')}`));
  return complaints;
}

const findFloor = (file) =>
  file.includes('/') ? folders.findIndex((names) => names.includes(file.split('/')[0])) : topFloor;

const findFeature = (file) => /^features\/([^/]+)\//.exec(file)?.[1];

function checkImport(file, target) {
  const complaints = [];
  if (target.startsWith('..')) complaints.push(`${file} imports from outside the service: ${target}`);
  if (findFloor(target) > findFloor(file)) complaints.push(`${file} imports upwards: ${target}`);
  const [from, to] = [findFeature(file), findFeature(target)];
  if (from && to && from !== to && /\.(sql|routes|jobs)\.ts$/.test(target))
    complaints.push(`${file} reaches into ${to}: ${target}`);
  return complaints;
}

function toFeatureGraph(graph) {
  const features = new Map();
  for (const [file, targets] of graph) {
    const from = findFeature(file);
    if (!from) continue;
    const known = features.get(from) ?? new Set();
    features.set(from, known);
    for (const target of targets) {
      const to = findFeature(target);
      if (to && to !== from) known.add(to);
    }
  }
  return features;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const complaints = checkFloors(fileURLToPath(new URL('../src', import.meta.url)));
  for (const complaint of complaints) console.error(`floors: ${complaint}`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}
