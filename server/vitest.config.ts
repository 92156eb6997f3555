import { defineConfig } from 'vitest/config';
import { hookMsMax, testMsMax, waitMsMax } from './test/support/bounds.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/worker-setup.ts'],
    testTimeout: testMsMax,
    hookTimeout: hookMsMax,
    expect: { poll: { timeout: waitMsMax } },
    pool: 'forks',
    // To load the service again for every file takes a fifth of the whole run: only CI, which must not be misled by what
    // another file left behind, can afford that.
    isolate: Boolean(process.env.CI),
    // Half of what is tested is waiting. In CI an S3 server, Redis and PostgreSQL need their share of two cores, too.
    maxWorkers: process.env.CI ? 3 : 4,
    // A suite that needs a service of CI's says in one line that it is skipped.
    reporters: process.env.CI ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/vitest.json' },
  },
});
