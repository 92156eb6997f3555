// A running Pakhus with a project, for tests of the client.
import { afterAll, beforeAll } from 'vitest';
import { startTestPakhus, type TestPakhus } from '../../../server/test/support/pakhus.ts';
import { adminSession, createPlan, createTenant, createUser } from '../../../server/test/support/tenants.ts';
import { type Client, createClient } from '../../src/index.ts';

export interface Served {
  readonly pakhus: TestPakhus;
  readonly baseUrl: string;
  /** A session of the admin. */
  readonly admin: string;
  /** The key of the project. */
  readonly key: string;
  /** With that key. */
  readonly client: Client;
}

/** Filled before the first test of the file; has a user `anna` with room for everything. */
export function serve(start: () => Promise<TestPakhus> = startTestPakhus): Served {
  const served = {} as { -readonly [Name in keyof Served]: Served[Name] };
  beforeAll(async () => {
    served.pakhus = await start();
    served.baseUrl = served.pakhus.baseUrl;
    const { api } = served.pakhus;
    served.admin = await adminSession(api);
    ({ key: served.key } = await createTenant(api, served.admin));
    await createPlan(api, served.key, { maxFileSize: 2 ** 40, storageLimit: 2 ** 42 });
    await createUser(api, served.key, 'anna');
    served.client = createClient({ baseUrl: served.baseUrl, key: served.key });
  });
  afterAll(() => served.pakhus?.stop());
  return served;
}
