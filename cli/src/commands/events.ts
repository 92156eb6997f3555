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

const loadWebhooks = () => import('./webhooks.run.ts');
const webhook = { name: 'id', summary: 'Id of the webhook' } as const;
const active = {
  type: 'string',
  value: 'ON',
  choices: ['on', 'off'],
  summary: 'Whether events are delivered',
} as const;
const secret = 'The secret is printed this once, with --quiet alone.';

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
    words: ['webhooks', 'list'],
    group: 'project',
    summary: 'List webhooks',
    load: async () => (await loadWebhooks()).listWebhooks,
  }),
  command({
    words: ['webhooks', 'create'],
    group: 'project',
    summary: 'Have events posted to a URL',
    details: secret,
    arguments: [{ name: 'url', summary: 'http or https, at a public address' }],
    options: { types, active },
    examples: [
      {
        line: "pakhus webhooks create https://app.example.com/pakhus --types 'file.*,quota.threshold'",
        summary: 'For files and quotas',
      },
    ],
    load: async () => (await loadWebhooks()).createWebhook,
  }),
  command({
    words: ['webhooks', 'update'],
    group: 'project',
    summary: 'Change the given fields of a webhook',
    details: 'Switched on again, a webhook continues with the event at which it stopped, within 7 days.',
    arguments: [webhook],
    options: {
      url: { type: 'string', value: 'URL', summary: 'Where events are posted to' },
      types: { ...types, summary: 'Only these, separated by commas; * for all' },
      active,
    },
    load: async () => (await loadWebhooks()).updateWebhook,
  }),
  command({
    words: ['webhooks', 'delete'],
    group: 'project',
    summary: 'Delete a webhook',
    arguments: [webhook],
    load: async () => (await loadWebhooks()).deleteWebhook,
  }),
  command({
    words: ['webhooks', 'rotate-secret'],
    group: 'project',
    summary: 'Replace the secret of a webhook',
    details: `For 24 hours the old one signs as well. ${secret}`,
    arguments: [webhook],
    load: async () => (await loadWebhooks()).rotateSecret,
  }),
  command({
    words: ['webhooks', 'test'],
    group: 'project',
    summary: 'Send a signed test message to a webhook',
    details: 'What became of it: pakhus webhooks deliveries ID.',
    arguments: [webhook],
    load: async () => (await loadWebhooks()).testWebhook,
  }),
  command({
    words: ['webhooks', 'deliveries'],
    group: 'project',
    summary: 'List what became of the events for a webhook, newest first',
    arguments: [webhook],
    options: {
      status: {
        type: 'string',
        value: 'STATUS',
        choices: ['pending', 'succeeded', 'retrying', 'failed'],
        summary: 'Only those',
      },
    },
    load: async () => (await loadWebhooks()).listDeliveries,
  }),
  command({
    words: ['webhooks', 'replay'],
    group: 'project',
    summary: 'Send an event to a webhook again',
    arguments: [webhook, { name: 'delivery', summary: 'Id of the delivery' }],
    load: async () => (await loadWebhooks()).replayDelivery,
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
