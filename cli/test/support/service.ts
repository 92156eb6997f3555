// A running Pakhus with a project, a user `anna`, and the command logged in to it by its environment.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@pakhus/client/node';
import { afterAll, beforeAll } from 'vitest';
import { startTestPakhus, type TestPakhus } from '../../../server/test/support/pakhus.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  type Tenant,
} from '../../../server/test/support/tenants.ts';
import { pakhusHere, type Surroundings } from './command.ts';

export interface Service {
  readonly pakhus: TestPakhus;
  readonly tenant: Tenant;
  readonly client: Client;
  /** PAKHUS_URL, PAKHUS_KEY and folders for profiles and state. */
  readonly env: Record<string, string>;
  /** Empty at first. */
  readonly folder: string;
  /** Another user, for a test of its own. */
  user(): Promise<string>;
  run(words: string | readonly string[], surroundings?: Surroundings): ReturnType<typeof pakhusHere>;
}

export function useService(environment: Record<string, string> = {}): Service {
  const service = {} as { -readonly [Name in keyof Service]: Service[Name] };
  beforeAll(async () => {
    service.pakhus = await startTestPakhus(environment);
    const { api, baseUrl } = service.pakhus;
    const admin = await adminSession(api);
    service.tenant = await createTenant(api, admin);
    const { key } = service.tenant;
    await createPlan(api, key, { maxFileSize: 2 ** 40, storageLimit: 2 ** 42 });
    await createUser(api, key, 'anna');
    service.client = createClient({ baseUrl, key });
    service.folder = await mkdtemp(join(tmpdir(), 'pakhus-cli-'));
    service.env = {
      PAKHUS_URL: baseUrl,
      PAKHUS_KEY: key,
      XDG_CONFIG_HOME: join(service.folder, 'config'),
      XDG_STATE_HOME: join(service.folder, 'state'),
    };
    service.user = async () => (await createUser(api, key)).externalId;
    service.run = (words, { env, ...rest } = {}) =>
      pakhusHere(words, { cwd: service.folder, env: { ...service.env, ...env }, ...rest });
  });
  afterAll(async () => {
    await service.pakhus?.stop();
    await rm(service.folder, { recursive: true, force: true });
  });
  return service;
}
