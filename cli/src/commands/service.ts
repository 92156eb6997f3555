// `pakhus serve`, `doctor` and `demo`.
import { command } from '../frame/command.ts';
import { loadOperator, loadServe } from '../server.ts';

export const serviceCommands = [
  command({
    words: ['serve'],
    group: 'service',
    summary: 'Start the service, until a signal stops it',
    whenOutputCloses: 'ignore',
    loadDetails: async (prepare) => (await loadOperator(prepare)).variablesText(),
    examples: [
      {
        line: 'PORT=8080 DATA_DIR=/srv/pakhus pakhus serve',
        summary: 'On another port, with another folder',
      },
    ],
    load:
      async () =>
      async ({ context }) =>
        (await loadServe(context.prepareServer)).runService(),
  }),
  command({
    words: ['doctor'],
    group: 'service',
    summary: 'Check every configured part of the service, and say what to do',
    details: `Reads the same variables as the service: run it as the same user, in the same folder. The service may be running or not.
Whatever it stores for a check, it removes. It ends with 1 if a check failed; warnings do not count.`,
    options: {
      'mail-to': { type: 'string', value: 'ADDRESS', summary: 'Also send a test mail to this address' },
      origin: {
        type: 'string',
        value: 'ORIGIN',
        summary: 'Origin of your pages, such as https://app.example.com, for the CORS rules of the bucket',
      },
    },
    examples: [
      { line: 'pakhus doctor', summary: 'Check everything' },
      { line: 'pakhus doctor --json | jq \'select(.status != "ok")\'', summary: 'What needs a look' },
    ],
    load: async () => (await import('./doctor.run.ts')).doctor,
  }),
  command({
    words: ['demo'],
    group: 'service',
    summary: 'Start a service with a project, users and files to look at, and print what to try',
    details: `It runs on a folder of its own and ignores the variables of the service. Ctrl-C ends it and removes the folder, unless you named
one or said --keep. Started again on the same folder, it goes on with what is there.`,
    options: {
      dir: { type: 'string', value: 'FOLDER', completes: 'folder', summary: 'Use this folder, and keep it' },
      port: {
        type: 'integer',
        value: 'N',
        min: 0,
        max: 65_535,
        summary: 'Listen on this port; a free one when not given',
      },
      keep: { type: 'boolean', summary: 'Keep the temporary folder' },
    },
    examples: [
      { line: 'pakhus demo', summary: 'Look around' },
      { line: 'pakhus demo --dir ./demo --port 3000', summary: 'Come back to it later' },
    ],
    load: async () => (await import('../demo/demo.ts')).demo,
  }),
];
