// Compiles src/ into dist/ when anything in it is newer than the last build.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const tsc = findCompiler();

export function buildIfStale() {
  // Nothing to do in an installation without sources or without the compiler.
  if (!existsSync(join(root, 'src')) || tsc === null || !isStale()) return;
  const startedAt = new Date();
  // Built into a second folder, so that a failed build leaves the old one intact, also for a running service.
  const aside = `dist.${process.pid}`;
  const buildInfo = join(aside, '.tsbuildinfo');
  // `npm run check` checks the types: doing it here would make the first start six times as long.
  const { status } = spawnSync(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', aside, '--tsBuildInfoFile', buildInfo],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  if (status !== 0) {
    rmSync(join(root, aside), { recursive: true, force: true });
    throw new Error('The build failed');
  }
  rmSync(dist, { recursive: true, force: true });
  renameSync(join(root, aside), dist);
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}

/** Null in an installation without development dependencies. */
function findCompiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    return join(dirname(manifest), 'bin', 'tsc');
  } catch {
    return null;
  }
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
