import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkUrl, findTarget, profilesPath, readProfiles, writeProfiles } from '../src/profiles.ts';

let folder: string;
let env: Record<string, string>;
const anna = { url: 'https://a.example/api/v1', key: 'secret-of-anna' };
const bob = { url: 'https://b.example/api/v1', key: 'secret-of-bob' };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pakhus-profiles-'));
  env = { XDG_CONFIG_HOME: join(folder, 'config') };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the file', () => {
  test('is written atomically, for its owner alone, and read back', async () => {
    expect(await readProfiles(env)).toEqual({ current: null, profiles: {} });
    const profiles = { current: 'a', profiles: { a: anna, b: bob } };
    await writeProfiles(env, profiles);
    await writeProfiles(env, profiles);
    expect(await readProfiles(env)).toEqual(profiles);
    const path = profilesPath(env);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    expect(await readdir(dirname(path))).toEqual(['config.json']);
  });

  test('is refused when others may read it, with the command that mends it', async () => {
    await writeProfiles(env, { current: 'a', profiles: { a: anna } });
    await chmod(profilesPath(env), 0o640);
    await expect(readProfiles(env)).rejects.toThrow(`chmod 600 '${profilesPath(env)}'`);
  });

  test.each(['{"profiles":{"a":{"url":"x","key"', '[]', '{"profiles":{"a":{"url":"x"}}}'])(
    'is reported when it is damaged, without quoting it: %s',
    async (text) => {
      await writeProfiles(env, { current: null, profiles: {} });
      await writeFile(profilesPath(env), text);
      const failure = await readProfiles(env).catch((error: Error) => error.message);
      expect(failure).toMatch(/damaged.*pakhus login/);
      expect(failure).not.toContain('"url"');
      expect(await readFile(profilesPath(env), 'utf8')).toBe(text);
    },
  );

  test('is in ~/.config by default', () => {
    expect(profilesPath({ HOME: '/home/anna' })).toBe('/home/anna/.config/pakhus/config.json');
  });
});

describe('the target', () => {
  test('is the named profile, else the current one; the variables win over both', async () => {
    await writeProfiles(env, { current: 'a', profiles: { a: anna, b: bob } });
    expect(await findTarget(env, undefined)).toEqual({ ...anna, profile: 'a' });
    expect(await findTarget(env, 'b')).toEqual({ ...bob, profile: 'b' });
    expect(await findTarget({ ...env, PAKHUS_KEY: 'k' }, 'b')).toEqual({ ...bob, key: 'k', profile: 'b' });
    const both = { ...env, PAKHUS_URL: 'http://127.0.0.1:3000/', PAKHUS_KEY: 'k' };
    expect(await findTarget(both, 'no')).toEqual({
      url: 'http://127.0.0.1:3000/api/v1',
      key: 'k',
      profile: null,
    });
  });

  test('is missing with a sentence that says what to do', async () => {
    await expect(findTarget(env, undefined)).rejects.toThrow(
      'run pakhus login, or set PAKHUS_URL and PAKHUS_KEY',
    );
    await expect(findTarget({ ...env, PAKHUS_URL: 'http://x' }, undefined)).rejects.toThrow(
      'or set PAKHUS_KEY',
    );
    await expect(findTarget(env, 'constructor')).rejects.toThrow('There is no profile "constructor"');
  });

  test.each([
    ['https://files.example.com', 'https://files.example.com/api/v1'],
    ['https://files.example.com/', 'https://files.example.com/api/v1'],
    ['https://example.com/files/api/v1/', 'https://example.com/files/api/v1'],
    ['http://127.0.0.1:3000/api/v1', 'http://127.0.0.1:3000/api/v1'],
  ])('%s leads to %s', (given, url) => expect(checkUrl(given)).toBe(url));

  test.each(['files.example.com', 'ftp://x', 'https://anna:secret@x.example'])('%s is refused', (given) => {
    expect(() => checkUrl(given)).toThrow();
  });
});
