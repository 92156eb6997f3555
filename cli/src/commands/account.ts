// `pakhus login`, `logout` and `whoami`.
import { command } from '../frame/command.ts';

const load = () => import('./account.run.ts');

export const accountCommands = [
  command({
    words: ['login'],
    group: 'account',
    summary: 'Remember a service and a key as a profile',
    details: `Asks for the URL and the key on the terminal. Without a terminal, the key comes from PAKHUS_KEY or from stdin; it is
never an argument, where others could see it. The service must accept the key before it is saved. User and space
tokens work like keys. --email logs in with e-mail and password instead, and saves the session.`,
    options: {
      url: { type: 'string', value: 'URL', env: 'PAKHUS_URL', summary: 'Where the service is' },
      email: {
        type: 'string',
        value: 'ADDRESS',
        summary: 'Log in with a password, and a code if there is a second factor',
      },
    },
    examples: [
      { line: 'pakhus login --url https://files.example.com', summary: 'Ask for the key' },
      { line: 'pakhus login --url https://files.example.com --profile ci < key.txt', summary: 'In a script' },
    ],
    load: async () => (await load()).login,
  }),
  command({
    words: ['logout'],
    group: 'account',
    summary: 'Forget a profile, and end its session',
    details: 'A session is ended on the service too. A key stays valid: revoke it with pakhus keys revoke.',
    load: async () => (await load()).logout,
  }),
  command({
    words: ['whoami'],
    group: 'account',
    summary: 'Show the service, the kind of credential and what it may do',
    load: async () => (await load()).whoami,
  }),
];
