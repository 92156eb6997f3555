// A complete Pakhus in the test process, listening on loopback, with its own database and folder and a clock that the test
// can move.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Pakhus, type StartOptions, startPakhus } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLogger } from '../../src/platform/log.ts';
import { type Api, apiOf } from './api.ts';
import { freshDatabase } from './database.ts';
import { dist } from './dist.ts';

export const adminEmail = 'admin@pakhus.local';
export const adminPassword = 'the admin of the tests';

/** Settings of every Pakhus in tests, in this process or another. */
export const testSecrets = {
  JWT_SECRET: 'a secret that only the tests know about',
  ADMIN_PASSWORD: adminPassword,
};

/** The real cost would be a twelfth of the whole run. `passwords.test.ts` and every started process have it. */
const cheapPasswords = { memoryCost: 8, timeCost: 1 };

export interface TestPakhus {
  readonly api: Api;
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly pakhus: Pakhus;
  /** Moves the service's clock. */
  advance(milliseconds: number): void;
  /** Another instance on the same database and folder. */
  another(environment?: Record<string, string>, options?: TestOptions): Promise<TestPakhus>;
  stop(): Promise<void>;
}

export type TestOptions = Pick<
  StartOptions,
  | 'uploadBounds'
  | 'databaseTiming'
  | 'consoleFolder'
  | 'outbound'
  | 'webhookBounds'
  | 'variantWaitMsMax'
  | 'passwordCost'
>;

/** `hear` receives the log lines, which otherwise go to stdout. */
export async function startTestPakhus(
  environment: Record<string, string> = {},
  hear?: (lines: string) => void,
  options: TestOptions = {},
): Promise<TestPakhus> {
  const database = await freshDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-'));
  const started = await startInstance(database.url, dataDir, environment, hear, options);
  return {
    ...started,
    stop: async () => {
      await started.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startInstance(
  databaseUrl: string,
  dataDir: string,
  environment: Record<string, string>,
  hear?: (lines: string) => void,
  options: TestOptions = {},
): Promise<TestPakhus> {
  let offsetMs = 0;
  const { settings } = readConfig({
    PORT: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...testSecrets,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ...environment,
  });
  const pakhus = await startPakhus({
    settings,
    log: createLogger(settings.LOG_LEVEL, hear && { write: hear }),
    clock: () => Date.now() + offsetMs,
    builtFolder: dist,
    // Whether somebody has built it must not matter.
    consoleFolder: null,
    passwordCost: cheapPasswords,
    ...options,
  });
  const baseUrl = pakhus.baseUrl ?? '';
  return {
    api: apiOf(baseUrl),
    baseUrl,
    databaseUrl,
    dataDir,
    pakhus,
    advance: (milliseconds) => {
      offsetMs += milliseconds;
    },
    another: (more = {}, others = {}) =>
      startInstance(databaseUrl, dataDir, { ...environment, ...more }, hear, { ...options, ...others }),
    stop: () => pakhus.stop(),
  };
}
