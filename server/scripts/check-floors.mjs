// Draws the import graph of src/ and fails on an arrow that goes up a floor, on a cycle, and on a feature
// that reaches into another one past its services and wire shapes, into its statements.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../src', import.meta.url));
const floors = [
  'kernel',
  'platform',
  'contract',
  'features',
  ['http', 'jobs'],
  [...readdirSync(src).filter((name) => name.endsWith('.ts'))],
];
/** Packages that one place alone may know. */
const confined = {
  fastify: /^http\//,
  pg: /^platform\/db\//,
  undici: /^platform\/objects\//,
  sharp: /^platform\/images\/image-child\.ts$/,
  ioredis: /^platform\/redis\.ts$/,
  'pg-boss': /^platform\/queue\//,
  nodemailer: /^platform\/mail\//,
  otpauth: /^kernel\/crypto\/totp\.ts$/,
};

const complaints = [];
const imports = new Map(sourceFiles(src).map((file) => [file, importsOf(file)]));

for (const [file, targets] of imports) {
  for (const target of targets.files) checkArrow(file, target);
  for (const name of targets.packages) {
    if (confined[name] && !confined[name].test(file)) complaints.push(`${file} knows ${name}`);
  }
  if (
    file !== 'config.ts' &&
    file !== 'main.ts' &&
    /process\.env\b/.test(readFileSync(join(src, file), 'utf8')) &&
    !file.startsWith('platform/')
  ) {
    complaints.push(`${file} reads the environment`);
  }
}
findCycles();

if (complaints.length > 0) {
  console.error(complaints.map((complaint) => `floors: ${complaint}`).join('\n'));
  process.exit(1);
}

function sourceFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => relative(src, join(folder, name)))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
}

function importsOf(file) {
  const text = readFileSync(join(src, file), 'utf8');
  const found = [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^;]*?from\s+'([^']+)'|import\('([^']+)'\)/g),
  ].map((match) => match[1] ?? match[2]);
  const files = found
    .filter((path) => path.startsWith('.'))
    .map((path) => relative(src, resolve(src, dirname(file), path)));
  const packages = found
    .filter((path) => !path.startsWith('.'))
    .map((path) => path.match(/^(@[^/]+\/)?[^/]+/)[0]);
  return { files, packages };
}

function floorOf(file) {
  const top = file.split('/')[0];
  return floors.findIndex((floor) => [floor].flat().includes(top));
}

function checkArrow(file, target) {
  if (floorOf(file) < 0) complaints.push(`${file} stands on no floor`);
  if (floorOf(target) > floorOf(file)) complaints.push(`${file} imports upwards: ${target}`);
  const [from, to] = [file, target].map((path) => /^features\/([^/]+)\//.exec(path)?.[1]);
  if (from && to && from !== to && /\.(sql|routes|jobs)\.ts$/.test(target))
    complaints.push(`${file} reaches into the statements of ${to}: ${target}`);
}

function findCycles() {
  const state = new Map();
  const visit = (file, path) => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      complaints.push(`a cycle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
      return;
    }
    state.set(file, 'open');
    for (const target of imports.get(file)?.files ?? []) visit(target, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of imports.keys()) visit(file, []);
}
