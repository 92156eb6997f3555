// The commands that manage a project: users, plans, keys, integrations, tokens and usage.
import { command } from '../frame/command.ts';

const load = () => import('./project.run.ts');
const user = { name: 'user', summary: 'Your own id of the user, or id:UUID' } as const;
const plan = { name: 'plan', summary: 'Name or id of the plan' } as const;
const yes = { type: 'boolean', short: 'y', summary: 'Do not ask' } as const;
const secret = 'The secret is printed this once, with --quiet alone.';
const scope = {
  type: 'string',
  value: 'SCOPE',
  multiple: true,
  summary: 'May be repeated, for example files:read',
} as const;
const planOptions = {
  description: { type: 'string', value: 'TEXT', summary: 'For people' },
  storage: { type: 'string', value: 'SIZE', summary: 'What one user may store: 500MB, 10GiB, or unlimited' },
  'max-file-size': { type: 'string', value: 'SIZE', summary: 'The largest file' },
  'max-files': { type: 'integer', value: 'N', min: 0, max: 1e15, summary: 'How many files a user may have' },
  'max-spaces': {
    type: 'integer',
    value: 'N',
    min: 0,
    max: 1e15,
    summary: 'How many spaces a user may have',
  },
  mime: {
    type: 'string',
    value: 'TYPE',
    multiple: true,
    summary: 'Allowed types, for example image/*; all if not given',
  },
} as const;
const integrationOptions = {
  name: { type: 'string', value: 'NAME', summary: 'For people' },
  scope,
  origin: {
    type: 'string',
    value: 'ORIGIN',
    multiple: true,
    summary: 'A page that may use its tokens; may be repeated',
  },
  'dev-mode': {
    type: 'string',
    value: 'ON',
    choices: ['on', 'off'],
    summary: 'No rate limit, all origins: for development',
  },
} as const;
const integration = { name: 'id', summary: 'Id of the integration' } as const;

export const projectCommands = [
  command({
    words: ['settings'],
    group: 'project',
    summary: 'Show or change the settings of the project',
    options: {
      'trash-days': {
        type: 'integer',
        value: 'DAYS',
        min: 0,
        max: 365,
        summary: 'How long deleted files stay in the trash; 0 for no trash',
      },
    },
    load: async () => (await load()).settings,
  }),
  command({
    words: ['users', 'list'],
    group: 'project',
    summary: 'List users with plan and usage',
    options: {
      find: { type: 'string', value: 'TEXT', summary: 'Only those whose id begins with it' },
      'usage-min': {
        type: 'integer',
        value: 'PERCENT',
        min: 1,
        max: 1000,
        summary: 'Only those who use at least this much of their storage',
      },
    },
    load: async () => (await load()).listUsers,
  }),
  command({
    words: ['users', 'create'],
    group: 'project',
    summary: 'Create a user',
    arguments: [{ name: 'user', summary: 'Your own id of the user' }],
    options: {
      plan: { type: 'string', value: 'PLAN', summary: 'Name or id; the default plan if not given' },
    },
    load: async () => (await load()).createUser,
  }),
  command({
    words: ['users', 'get'],
    group: 'project',
    summary: 'Show a user',
    arguments: [user],
    load: async () => (await load()).getUser,
  }),
  command({
    words: ['users', 'delete'],
    group: 'project',
    summary: 'Delete a user with all files and spaces',
    arguments: [user],
    options: { yes },
    load: async () => (await load()).deleteUser,
  }),
  command({
    words: ['users', 'plan'],
    group: 'project',
    summary: 'Give a user another plan',
    arguments: [user, plan],
    load: async () => (await load()).assignPlan,
  }),
  command({
    words: ['users', 'activate'],
    group: 'project',
    summary: 'Activate a user',
    arguments: [user],
    load: async () => (await load()).activateUser,
  }),
  command({
    words: ['users', 'deactivate'],
    group: 'project',
    summary: 'Deactivate a user, who can then upload nothing',
    arguments: [user],
    load: async () => (await load()).deactivateUser,
  }),
  command({
    words: ['plans', 'list'],
    group: 'project',
    summary: 'List plans',
    load: async () => (await load()).listPlans,
  }),
  command({
    words: ['plans', 'create'],
    group: 'project',
    summary: 'Create a plan',
    arguments: [{ name: 'name', summary: 'Name of the plan' }],
    options: planOptions,
    examples: [
      {
        line: "pakhus plans create small --storage 10GB --max-file-size 100MB --mime 'image/*'",
        summary: 'For images',
      },
    ],
    load: async () => (await load()).createPlan,
  }),
  command({
    words: ['plans', 'update'],
    group: 'project',
    summary: 'Change the given fields of a plan',
    arguments: [plan],
    options: { name: { type: 'string', value: 'NAME', summary: 'New name' }, ...planOptions },
    load: async () => (await load()).updatePlan,
  }),
  command({
    words: ['plans', 'delete'],
    group: 'project',
    summary: 'Delete a plan',
    arguments: [plan],
    load: async () => (await load()).deletePlan,
  }),
  command({
    words: ['plans', 'default'],
    group: 'project',
    summary: 'Give this plan to new users',
    arguments: [plan],
    load: async () => (await load()).makePlanDefault,
  }),
  command({
    words: ['keys', 'list'],
    group: 'project',
    summary: 'List the keys of the project',
    load: async () => (await load()).listKeys,
  }),
  command({
    words: ['keys', 'create'],
    group: 'project',
    summary: 'Create a key of the project, which may do everything',
    details: secret,
    options: { name: { type: 'string', value: 'NAME', summary: 'For people' } },
    load: async () => (await load()).createKey,
  }),
  command({
    words: ['keys', 'revoke'],
    group: 'project',
    summary: 'Revoke a key of the project',
    arguments: [{ name: 'id', summary: 'Id of the key' }],
    load: async () => (await load()).revokeKey,
  }),
  command({
    words: ['integrations', 'list'],
    group: 'project',
    summary: 'List integrations, whose keys have scopes',
    load: async () => (await load()).listIntegrations,
  }),
  command({
    words: ['integrations', 'create'],
    group: 'project',
    summary: 'Create an integration and its key',
    details: secret,
    options: integrationOptions,
    examples: [
      {
        line: 'pakhus integrations create --name web --scope files:read --scope files:write --origin https://app.example.com',
        summary: 'For a page',
      },
    ],
    load: async () => (await load()).createIntegration,
  }),
  command({
    words: ['integrations', 'update'],
    group: 'project',
    summary: 'Change the given fields of an integration',
    arguments: [integration],
    options: {
      ...integrationOptions,
      active: { type: 'string', value: 'ON', choices: ['on', 'off'], summary: 'Whether its key works' },
    },
    load: async () => (await load()).updateIntegration,
  }),
  command({
    words: ['integrations', 'rotate'],
    group: 'project',
    summary: 'Replace the key of an integration',
    details: `The old key ends at once. ${secret}`,
    arguments: [integration],
    load: async () => (await load()).rotateIntegration,
  }),
  command({
    words: ['integrations', 'delete'],
    group: 'project',
    summary: 'Delete an integration with its key and tokens',
    arguments: [integration],
    load: async () => (await load()).deleteIntegration,
  }),
  command({
    words: ['tokens', 'mint'],
    group: 'project',
    summary: 'Mint a token for the app of one user',
    details: secret,
    arguments: [user],
    options: { scope },
    examples: [
      { line: 'TOKEN=$(pakhus --quiet tokens mint anna --scope files:read)', summary: 'In a script' },
    ],
    load: async () => (await load()).mintToken,
  }),
  command({
    words: ['tokens', 'revoke'],
    group: 'project',
    summary: 'Revoke a token of one user',
    arguments: [user, { name: 'jti', summary: 'Id of the token' }],
    load: async () => (await load()).revokeToken,
  }),
  command({
    words: ['usage'],
    group: 'project',
    summary: 'Show what a user stores, or the whole project, now or day by day',
    details:
      'With --from, --to or --csv: one line for each day and user, the rows of a bill. Days are UTC days.',
    arguments: [{ ...user, optional: true }],
    options: {
      from: { type: 'string', value: 'DATE', summary: 'The first day; 29 days before the last by default' },
      to: { type: 'string', value: 'DATE', summary: 'The last day; today by default' },
      csv: { type: 'boolean', summary: 'As CSV, for spreadsheets' },
    },
    examples: [
      { line: 'pakhus usage --from 2026-01-01 --to 2026-01-31 --csv > january.csv', summary: 'A month' },
    ],
    load: async () => (await load()).usage,
  }),
];
