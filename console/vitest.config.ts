import { defineConfig } from 'vitest/config';
import { hookMsMax, testMsMax, waitMsMax } from '../server/test/support/bounds.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['../server/test/support/worker-setup.ts'],
    testTimeout: testMsMax,
    hookTimeout: hookMsMax,
    expect: { poll: { timeout: waitMsMax } },
    pool: 'forks',
    isolate: false,
    // They wait for browsers most of the time.
    maxWorkers: 3,
    // A browser on a busy machine misses a turn now and then. CI names every test that needed its second attempt.
    retry: process.env.CI ? 1 : 0,
    reporters: process.env.CI ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/vitest.json' },
  },
});
