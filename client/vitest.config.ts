import { defineConfig } from 'vitest/config';
import { hookMsMax, testMsMax, waitMsMax } from '../server/test/support/bounds.ts';
import { LongestFirst } from '../server/test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['../server/test/support/global-setup.ts'],
    setupFiles: ['../server/test/support/worker-setup.ts'],
    testTimeout: testMsMax,
    hookTimeout: hookMsMax,
    expect: { poll: { timeout: waitMsMax } },
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    isolate: false,
    maxWorkers: 3,
    reporters: process.env.CI ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/vitest.json' },
  },
});
