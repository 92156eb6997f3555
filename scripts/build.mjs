// Compiles src/ of a workspace into its dist/ when anything in it is newer than the last build.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const renameAttempts = 5;

export function buildIfStale(workspace) {
  const root = join(repository, workspace);
  const dist = join(root, 'dist');
  const stamp = join(dist, '.built');
  if (!existsSync(join(root, 'tsconfig.build.json')) || !isStale(root, stamp)) return;
  const tsc = findCompiler();
  // Nothing to do in an installation without development dependencies.
  if (tsc === null) return;
  const startedAt = new Date();
  // Built into a second folder, so that a failed build leaves the old one intact, also for a running service.
  const aside = `dist.${process.pid}`;
  const buildInfo = join(aside, '.tsbuildinfo');
  // `npm run check` checks the types: doing it here would make the first start six times as long.
  const { status } = spawnSync(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', aside, '--tsBuildInfoFile', buildInfo],
    // Standard output belongs to the command that is built.
    { cwd: root, stdio: ['ignore', 2, 2] },
  );
  if (status !== 0) {
    rmSync(join(root, aside), { recursive: true, force: true });
    throw new Error(`The build of ${workspace} failed`);
  }
  const stampAside = join(root, aside, '.built');
  writeFileSync(stampAside, '');
  utimesSync(stampAside, startedAt, startedAt);
  replace(join(root, aside), dist);
}

/** Another process may build at the same time, and put its own folder into place between the steps. */
function replace(aside, dist) {
  const old = `${aside}.old`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (existsSync(dist)) renameSync(dist, old);
      renameSync(aside, dist);
      break;
    } catch (error) {
      if (attempt < renameAttempts) continue;
      rmSync(aside, { recursive: true, force: true });
      throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
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

function isStale(root, stamp) {
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
