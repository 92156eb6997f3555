// Prints how much of @pakhus/elements a page loads, and fails if that is more than promised or if it imports anything else.
import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url);
const second = readdirSync(dist).filter((name) => name.startsWith('pakhus-files-more-'));

const limits = [
  { name: 'index.js', bytesMax: 35_000, imports: second.map((name) => `import("./${name}")`) },
  ...second.map((name) => ({ name, bytesMax: 9_800, imports: [] })),
];

if (second.length !== 1) process.exitCode = 1;
for (const { name, bytesMax, imports } of limits) {
  const code = readFileSync(new URL(name, dist));
  const bytes = brotliCompressSync(code).length;
  console.log(
    `elements: ${name} has ${bytes} bytes of at most ${bytesMax} with Brotli, ${gzipSync(code, { level: 9 }).length} with gzip`,
  );
  const found = code.toString().match(/(?<=^|[^\w$.])import\s*(\([^)]*\)|[{"'*\w].{0,40})/g) ?? [];
  const strange = found.filter((one) => !imports.includes(one));
  if (strange.length > 0) console.error(`elements: ${name} imports more: ${strange.join()}`);
  if (bytes > bytesMax || strange.length > 0) process.exitCode = 1;
}
