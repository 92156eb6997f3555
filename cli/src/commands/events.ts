// The commands that follow events and manage webhooks.
import { command } from '../frame/command.ts';

const types = {
  type: 'string',
  value: 'TYPES',
  summary: 'Only these, separated by commas: file.*,quota.threshold',
} as const;
const feed = {
  types,
  from: {
    type: 'string',
    value: 'WHERE',
    choices: ['oldest'],
    summary: 'Begin with the oldest event that is kept, instead of now',
  },
  cursor: { type: 'string', value: 'CURSOR', summary: 'Begin where an earlier run has ended' },
  once: { type: 'boolean', summary: 'Take what is there, and end' },
} as const;

export const eventCommands = [
  command({
    words: ['events'],
    group: 'project',
    summary: 'Print what changes in the project, as it happens',
    details: `Ctrl-C ends it. It then says how to go on from there, within 7 days. With --json, an event is a line, and the last line is
{"next_cursor":…}.`,
    options: feed,
    examples: [
      { line: 'pakhus events --types file.created,file.deleted', summary: 'Files that come and go' },
      { line: 'pakhus events --once --json --cursor="$CURSOR"', summary: 'From time to time, in a script' },
    ],
    load: async () => (await import('./events.run.ts')).events,
  }),
  command({
    words: ['webhooks', 'listen'],
    group: 'project',
    summary: 'Forward events to a program on this machine, signed as webhooks',
    details: `For development: nothing has to reach this machine from outside, and no webhook is created. The secret is the same whenever you use
the same key. An event that the program does not accept with a 2xx is sent again three times.`,
    options: {
      forward: { type: 'string', value: 'URL', summary: 'Where the program takes webhooks' },
      secret: {
        type: 'string',
        value: 'SECRET',
        env: 'PAKHUS_WEBHOOK_SECRET',
        summary: 'Sign with this one: whsec_ and base64',
      },
      ...feed,
    },
    examples: [
      {
        line: 'pakhus webhooks listen --forward http://localhost:3001/hook',
        summary: 'Try a receiver without a tunnel',
      },
    ],
    load: async () => (await import('./listen.run.ts')).listen,
  }),
];
