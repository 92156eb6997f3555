// Compiles src/ into dist/ when anything in it is newer than the last build.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.built');

export function buildIfStale() {
  // An installation without sources has nothing to build from.
  if (!existsSync(join(root, 'src')) || !isStale()) return;
  const startedAt = new Date();
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // Types are the business of `npm run check`: checking them here would make the first start six times as long.
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The build failed');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}

function isStale() {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return ['tsconfig.json', 'tsconfig.build.json', 'src'].some((path) => newestIn(join(root, path)) > builtAt);
}

function newestIn(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = readdirSync(path).map((name) => newestIn(join(path, name)));
  return Math.max(stats.mtimeMs, ...inside);
}
