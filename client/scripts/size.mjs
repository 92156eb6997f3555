// Prints what a page loads of the built client, bundled and compressed, and fails above the limit.
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const bytesMax = 8_000;

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('../dist/index.js', import.meta.url))],
  bundle: true,
  minify: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  outdir: 'out',
  write: false,
});
const sizes = outputFiles.map(({ path, contents }) => ({
  name: basename(path),
  bytes: gzipSync(contents, { level: 9 }).length,
}));
/** Loaded when they are first used. */
const isOnDemand = ({ name }) => /^(delivery|direct|events|webhooks)-/.test(name);
const first = sizes.filter((size) => !isOnDemand(size)).reduce((sum, { bytes }) => sum + bytes, 0);
const later = sizes.filter(isOnDemand).reduce((sum, { bytes }) => sum + bytes, 0);
console.log(
  `client: ${first} bytes gzipped of at most ${bytesMax}; direct uploads, delivery, events and webhooks, on demand: ${later} more`,
);
if (first > bytesMax) process.exitCode = 1;
