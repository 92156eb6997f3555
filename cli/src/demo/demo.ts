// `pakhus demo`: a service on a folder of its own, filled with something to look at.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Call, Context } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';
import { loadOperator, type RunningService } from '../server.ts';
import { type Account, type Filled, fill, makePassword } from './fill.ts';

interface Options {
  readonly dir: string | undefined;
  readonly port: number | undefined;
  readonly keep: boolean;
}

/** Kept in the folder, so that the next start can go on. */
interface State {
  readonly admin: Account;
  /** Null until everything is there. */
  readonly filled: Filled | null;
}

const stateFile = 'demo.json';

export async function demo({ options, context }: Call<Options>): Promise<void> {
  const { signal, err, cwd } = context;
  const folder =
    options.dir === undefined ? await mkdtemp(join(tmpdir(), 'pakhus-demo-')) : resolve(cwd, options.dir);
  const isTemporary = options.dir === undefined && !options.keep;
  try {
    const state = await readState(folder);
    err.progress('Starting the service');
    const { startService } = await loadOperator(context.prepareServer);
    const service = await startService(toEnvironment(folder, options.port ?? 0, state.admin), signal);
    try {
      const filled = state.filled ?? (await fillOnce(folder, state, service, context));
      err.endProgress();
      await show(context, service, folder, { ...state, filled });
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      err.endProgress();
      err.say('Stopping');
      await service.stop();
    }
  } finally {
    if (isTemporary) await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    else err.say(`The folder ${folder} is kept`);
  }
}

/** Nothing of the operator's own variables: the demo must not reach another database or store. */
const toEnvironment = (folder: string, port: number, admin: Account): Record<string, string> => ({
  DATA_DIR: join(folder, 'data'),
  PORT: String(port),
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
  LOG_LEVEL: 'error',
});

async function readState(folder: string): Promise<State> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, stateFile);
  if (existsSync(path)) return JSON.parse(await readFile(path, 'utf8')) as State;
  if ((await readdir(folder)).length > 0)
    throw new CommandError(
      'misused',
      `${folder} is not empty, and not made by pakhus demo: name another folder`,
    );
  const state = { admin: { email: 'admin@demo.example', password: makePassword() }, filled: null };
  // Before the first start, which gives the admin this password.
  await writeState(folder, state);
  return state;
}

async function writeState(folder: string, state: State): Promise<void> {
  const draft = join(folder, `${stateFile}.draft`);
  await writeFile(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, join(folder, stateFile));
}

async function fillOnce(
  folder: string,
  state: State,
  service: RunningService,
  context: Context,
): Promise<Filled> {
  const filled = await fill(service.baseUrl, state.admin, context.signal, context.err.progress);
  await writeState(folder, { ...state, filled });
  return filled;
}

async function show(
  { out }: Context,
  { baseUrl, referenceUrl, consoleUrl }: RunningService,
  folder: string,
  { admin, filled }: State & { readonly filled: Filled },
): Promise<void> {
  const { owner, key, spaces, files } = filled;
  const [space] = spaces;
  const login = JSON.stringify({ externalId: space?.externalId, password: space?.password });
  const text = `Pakhus is ready at ${baseUrl} with ${files} files of three users in ${folder}

${consoleUrl ? `The console:         ${consoleUrl}\n` : ''}The API reference:   ${referenceUrl}
The admin:           ${admin.email} / ${admin.password}
The project's owner: ${owner.email} / ${owner.password}
The project's key:   ${key}

Try:
  base=${baseUrl}
  key=${key}
  curl -s $base/project/users -H "authorization: Bearer $key"
  curl -s "$base/project/users/ext/anna/files?folder=photos&limit=3" -H "authorization: Bearer $key"
  curl -s $base/project/users/ext/anna/storage -H "authorization: Bearer $key"
  echo hello > hello.txt; curl -s $base/project/users/ext/bo/files -H "authorization: Bearer $key" -F file=@hello.txt -F folder=notes
  curl -s $base/project/spaces/login -H "authorization: Bearer $key" -H 'content-type: application/json' -d '${login}'
  curl -s $base/auth/login -H 'content-type: application/json' -d '${JSON.stringify(admin)}'

Ctrl-C ends it.`;
  await out.print({ baseUrl, consoleUrl, referenceUrl, folder, admin, ...filled }, text);
}
