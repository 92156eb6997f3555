import { defineConfig } from 'vitest/config';
import { hookMsMax, testMsMax, waitMsMax } from './test/support/bounds.ts';
import { LongestFirst } from './test/support/longest-first.ts';

/** Runs only in processes and threads where coverage is not measured: the command line, the image and hash workers. */
const inOwnProcess = [
  'src/{main,serve,operator}.ts',
  'src/doctor*.ts',
  'src/cli*.ts',
  'src/features/accounts/accounts.operator.ts',
  'src/features/files/files.copy.ts',
  'src/platform/db/export.ts',
  'src/platform/queue/queue-export.ts',
  'src/platform/secret-file.ts',
  'src/platform/images/image-{child,header}.ts',
  'src/platform/hashing/hash-worker.ts',
];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/worker-setup.ts'],
    testTimeout: testMsMax,
    hookTimeout: hookMsMax,
    expect: { poll: { timeout: waitMsMax } },
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Loading the service again for every file would take a fifth of the whole run.
    isolate: false,
    // Tests spend half of their time waiting. In CI an S3 server, Redis and PostgreSQL share the two cores.
    maxWorkers: process.env.CI ? 3 : 4,
    reporters: process.env.CI ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/vitest.json' },
    // With --coverage. Costs 4 % of the run; .ci/coverage.mjs reads the result.
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['**/*.test.ts', ...inOwnProcess],
      reporter: ['json-summary'],
      reportsDirectory: 'coverage/branches',
    },
  },
});
