// The commands of the admin: projects.
import { command } from '../frame/command.ts';

const load = () => import('./projects.run.ts');
const project = { name: 'project', summary: 'Name or id of the project' } as const;

export const projectsCommands = [
  command({
    words: ['projects', 'list'],
    group: 'projects',
    summary: 'List projects',
    load: async () => (await load()).listProjects,
  }),
  command({
    words: ['projects', 'create'],
    group: 'projects',
    summary: 'Create a project and its key',
    details: `Asks for the owner's password on the terminal; without a terminal it comes from stdin. The key is printed this once, with
--quiet alone.`,
    arguments: [{ name: 'name', summary: 'Name of the project' }],
    options: {
      email: { type: 'string', value: 'ADDRESS', summary: 'Of the owner, who logs in with it' },
    },
    examples: [
      { line: 'pakhus projects create Harbour --email owner@example.com', summary: 'Ask for the password' },
    ],
    load: async () => (await load()).createProject,
  }),
  command({
    words: ['projects', 'suspend'],
    group: 'projects',
    summary: 'Refuse everything to a project until it is activated',
    arguments: [project],
    load: async () => (await load()).suspendProject,
  }),
  command({
    words: ['projects', 'activate'],
    group: 'projects',
    summary: 'Let a suspended project work again',
    arguments: [project],
    load: async () => (await load()).activateProject,
  }),
  command({
    words: ['projects', 'rotate'],
    group: 'projects',
    summary: 'Replace the keys of a project by a new one',
    arguments: [project],
    load: async () => (await load()).rotateProject,
  }),
  command({
    words: ['projects', 'delete'],
    group: 'projects',
    summary: 'Delete a project with all users and files',
    arguments: [project],
    options: { yes: { type: 'boolean', short: 'y', summary: 'Do not ask' } },
    load: async () => (await load()).deleteProject,
  }),
];
