// `pakhus admin …`: recovery of accounts and moves to servers, done by the service's own code on its database.
import { command } from '../frame/command.ts';

const email = {
  type: 'string',
  value: 'ADDRESS',
  summary: 'E-mail of the account; the admin when not given',
} as const;
const stopped = 'With the embedded database, stop the service first.';
const alongside = 'The service may be running.';
const loadAdmin = () => import('./admin.run.ts');

export const adminCommands = [
  command({
    words: ['admin', 'reset-password'],
    group: 'service',
    summary: 'Set a new password for an account and print it',
    details: stopped,
    options: { email },
    load: async () => (await loadAdmin()).resetPassword,
  }),
  command({
    words: ['admin', 'disable-2fa'],
    group: 'service',
    summary: 'Switch two-factor login off for an account',
    details: stopped,
    options: { email },
    load: async () => (await loadAdmin()).disableTwoFactor,
  }),
  command({
    words: ['admin', 'export-database'],
    group: 'service',
    summary: 'Write the database as SQL that psql loads into an empty one',
    details: alongside,
    whenOutputCloses: 'fail',
    options: {
      file: {
        type: 'string',
        value: 'FILE',
        completes: 'file',
        summary: 'Write to this new file, not to stdout',
      },
    },
    examples: [{ line: 'pakhus admin export-database --file pakhus.sql', summary: 'To a file' }],
    load: async () => (await loadAdmin()).exportDatabase,
  }),
  command({
    words: ['admin', 'copy-objects'],
    group: 'service',
    summary: 'Copy all objects from DATA_DIR to the S3 store, and verify them',
    details: alongside,
    load: async () => (await loadAdmin()).copyObjects,
  }),
];
