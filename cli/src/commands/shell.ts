// `pakhus help` and `pakhus completion`.
import { command } from '../frame/command.ts';

export const shellCommands = [
  command({
    words: ['help'],
    group: 'other',
    summary: 'Show help, also for one command',
    arguments: [
      { name: 'command', summary: 'Its words, such as: admin reset-password', optional: true, many: true },
    ],
    load: async () => (await import('./shell.run.ts')).help,
  }),
  command({
    words: ['completion'],
    group: 'other',
    summary: 'Print the completion script of a shell',
    arguments: [{ name: 'shell', summary: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] }],
    examples: [
      { line: 'source <(pakhus completion bash)', summary: 'In ~/.bashrc' },
      { line: 'source <(pakhus completion zsh)', summary: 'In ~/.zshrc, after compinit' },
      { line: 'pakhus completion fish > ~/.config/fish/completions/pakhus.fish', summary: 'Once, for fish' },
    ],
    load: async () => (await import('./shell.run.ts')).completion,
  }),
];
