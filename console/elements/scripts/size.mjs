// Prints how much of @pakhus/elements a page loads, and fails if that is more than promised or if it imports anything.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const bytesMax = 35_000;

const code = readFileSync(process.argv[2] ?? new URL('../dist/index.js', import.meta.url));
const bytes = brotliCompressSync(code).length;
console.log(
  `elements: ${bytes} bytes of at most ${bytesMax} with Brotli, ${gzipSync(code, { level: 9 }).length} with gzip`,
);
const hasImports = /(^|[;}\s])import\s*[({"'*\w]/.test(code.toString());
if (bytes > bytesMax || hasImports) process.exitCode = 1;
