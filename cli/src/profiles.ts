// Profiles: which service to talk to, and with which key. Kept in one file that only its owner may read. Keys come from
// this file or from PAKHUS_KEY, never from the command line, where other users of the machine could see them.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Environment } from './frame/command.ts';
import { CommandError } from './frame/failure.ts';

export interface Profile {
  /** Up to and including /api/v1. */
  readonly url: string;
  readonly key: string;
}

export interface Profiles {
  /** The profile that applies when none is named. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

export interface Target extends Profile {
  /** Null if PAKHUS_URL and PAKHUS_KEY say everything. */
  readonly profile: string | null;
}

const none: Profiles = { current: null, profiles: {} };
const othersMay = 0o077;

export const profilesPath = (env: Environment): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'pakhus', 'config.json');

/** No file means no profiles. */
export async function readProfiles(env: Environment): Promise<Profiles> {
  const path = profilesPath(env);
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & othersMay) !== 0)
      throw new CommandError('failed', `Other users may read the keys in ${path}: run chmod 600 '${path}'`);
    return parseProfiles(await readFile(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return none;
    throw error;
  }
}

function parseProfiles(text: string, path: string): Profiles {
  try {
    const { current, profiles } = JSON.parse(text) as Partial<Profiles>;
    const isWhole = (profile: Partial<Profile>) =>
      typeof profile.url === 'string' && typeof profile.key === 'string';
    if (profiles && Object.values(profiles).every(isWhole)) return { current: current ?? null, profiles };
  } catch {
    // The parser's message would quote the text, keys included.
  }
  throw new CommandError('failed', `${path} is damaged: delete it, then run pakhus login again`);
}

/** Atomic: a crash leaves the old file or the new one. */
export async function writeProfiles(env: Environment, profiles: Profiles): Promise<void> {
  const path = profilesPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await chmod(dirname(path), 0o700);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(profiles, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Where a command goes: PAKHUS_URL and PAKHUS_KEY win over the profile that `name` or the file selects. */
export async function findTarget(env: Environment, name: string | undefined): Promise<Target> {
  const { PAKHUS_URL: url, PAKHUS_KEY: key } = env;
  if (url && key) return { url: checkUrl(url), key, profile: null };
  const { current, profiles } = await readProfiles(env);
  const selected = name ?? current;
  const profile =
    selected !== null && Object.hasOwn(profiles, selected) ? (profiles[selected] ?? null) : null;
  if (name !== undefined && profile === null)
    throw new CommandError('misused', `There is no profile "${name}": run pakhus login --profile ${name}`);
  if (profile === null) {
    const missing = url ? 'PAKHUS_KEY' : key ? 'PAKHUS_URL' : 'PAKHUS_URL and PAKHUS_KEY';
    throw new CommandError('notAllowed', `You are not logged in: run pakhus login, or set ${missing}`);
  }
  return { url: checkUrl(url || profile.url), key: key || profile.key, profile: selected };
}

/** The API of the service that a person names, with or without its path. */
export function checkUrl(given: string): string {
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new CommandError(
      'misused',
      `"${given}" is not an http or https URL such as https://files.example.com`,
    );
  const { origin, pathname, username } = new URL(given);
  if (username !== '') throw new CommandError('misused', 'The URL of the service must contain no user name');
  const path = pathname.replace(/\/+$/, '');
  return `${origin}${path.endsWith('/api/v1') ? path : `${path}/api/v1`}`;
}
