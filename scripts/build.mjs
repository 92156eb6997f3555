// Builds workspaces into their dist/, each only if one of its sources is newer than its last build.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const renameAttempts = 5;

/** `npm run check` checks the types: doing it here would make the first start six times as long. */
const compile = {
  tool: ['typescript', 'bin/tsc'],
  sources: ['tsconfig.json', 'tsconfig.build.json', 'src'],
  arguments: (out) => [
    '-p',
    'tsconfig.build.json',
    '--noCheck',
    '--outDir',
    out,
    '--tsBuildInfoFile',
    join(out, '.tsbuildinfo'),
  ],
};

/** The pages contain the client. */
const bundle = {
  tool: ['vite', 'bin/vite.js'],
  sources: ['vite.config.ts', 'vite.compress.ts', 'index.html', 'src', '../client/src'],
  arguments: (out) => ['build', '--outDir', out, '--logLevel', 'warn'],
};

const recipes = { server: compile, client: compile, cli: compile, console: bundle };

/** All at the same time: none needs what another has built. */
export async function buildIfStale(...workspaces) {
  await Promise.all(workspaces.map(build));
}

async function build(workspace) {
  const recipe = recipes[workspace];
  const root = join(repository, workspace);
  const dist = join(root, 'dist');
  const sources = recipe.sources.map((path) => join(root, path));
  // An installation without sources has been built.
  if (!sources.every((path) => existsSync(path)) || !isStale(sources, join(dist, '.built'))) return;
  const tool = findTool(...recipe.tool);
  // Nothing to do in an installation without development dependencies.
  if (tool === null) return;
  const startedAt = new Date();
  // Built into a second folder, so that a failed build leaves the old one intact, also for a running service.
  const aside = `dist.${process.pid}`;
  if ((await run([tool, ...recipe.arguments(aside)], root)) !== 0) {
    rmSync(join(root, aside), { recursive: true, force: true });
    throw new Error(`The build of ${workspace} failed`);
  }
  const stampAside = join(root, aside, '.built');
  writeFileSync(stampAside, '');
  utimesSync(stampAside, startedAt, startedAt);
  replace(join(root, aside), dist);
}

const run = (words, cwd) =>
  new Promise((resolve, reject) => {
    // Standard output belongs to the command that is built.
    const child = spawn(process.execPath, words, { cwd, stdio: ['ignore', 2, 2] });
    child.once('error', reject);
    child.once('exit', resolve);
  });

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
function findTool(name, file) {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
  } catch {
    return null;
  }
}

function isStale(sources, stamp) {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return sources.some((path) => newestIn(path) > builtAt);
}

function newestIn(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = readdirSync(path).map((name) => newestIn(join(path, name)));
  return Math.max(stats.mtimeMs, ...inside);
}
