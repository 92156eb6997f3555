// The commands that share, zip, move, find and bring back files.
import { placesHelp } from '../files/place.ts';
import { command } from '../frame/command.ts';
import { jobs, space, yes } from './file-options.ts';

const loadShares = () => import('./share.run.ts');
const loadTrash = () => import('./trash.run.ts');

const shareArguments = [
  { name: 'user', summary: 'USER:' },
  { name: 'id', summary: 'Id of the share: pakhus share list shows it' },
] as const;
const trashed = {
  name: 'places',
  summary: 'USER:PATH, or USER:FOLDER/ with everything below',
  many: true,
} as const;
const restoring = `A file that the plan or the space no longer allows stays in the trash. Of several files with the same name, the one that was deleted
last comes back; USER:#ID names another.

${placesHelp}`;

export const moreFileCommands = [
  command({
    words: ['mv'],
    group: 'files',
    summary: 'Move or rename files and folders of a user',
    details: `The last argument is the target. If it ends with a slash or has no path, sources go into that folder; otherwise it is the new name of
the only source. A folder moves at once, with everything below. A file gets a new folder at once; a new name makes it a new file, with another
id: a copy within the service, then the old one is deleted.

${placesHelp}`,
    arguments: [{ name: 'places', summary: 'USER:PATH..., then USER:FOLDER/ or USER:NAME', many: true }],
    options: { space },
    examples: [
      { line: 'pakhus mv anna:inbox/a.pdf anna:2026/', summary: 'A file to another folder' },
      { line: 'pakhus mv anna:drafts anna:archive/drafts', summary: 'A whole folder' },
    ],
    load: async () => (await import('./move.run.ts')).mv,
  }),
  command({
    words: ['zip'],
    group: 'files',
    summary: 'Download a folder, or files, as one zip',
    details: `The service makes the zip as it is read, without compressing. An interrupted download continues when the command is run again, as long as
the files have not changed.

${placesHelp}`,
    arguments: [{ name: 'places', summary: 'USER:FOLDER, or files', many: true }],
    options: {
      output: {
        type: 'string',
        short: 'o',
        value: 'FILE',
        completes: 'file',
        summary: 'Where to; FOLDER.zip in the current folder if not given',
      },
      force: { type: 'boolean', short: 'f', summary: 'Overwrite a file that is there' },
      space,
    },
    examples: [{ line: 'pakhus zip anna:2026 -o 2026.zip', summary: 'A folder with everything below' }],
    load: async () => (await import('./zip.run.ts')).zip,
  }),
  command({
    words: ['search'],
    group: 'files',
    summary: 'Find files of a user by a part of their name',
    details: `Case and accents do not matter.\n\n${placesHelp}`,
    arguments: [
      { name: 'text', summary: 'Part of the name, 2 to 100 characters' },
      { name: 'user', summary: 'USER:, not needed with a user or space token', optional: true },
    ],
    options: {
      sort: {
        type: 'string',
        value: 'BY',
        choices: ['name', 'size', 'created_at'],
        summary: 'In this order; newest first if not given',
      },
      order: { type: 'string', value: 'ORDER', choices: ['asc', 'desc'], summary: 'Upwards or downwards' },
      since: { type: 'string', value: 'DATE', summary: 'Uploaded at this time or later' },
      until: { type: 'string', value: 'DATE', summary: 'Uploaded at this time or earlier' },
      'min-size': { type: 'string', value: 'SIZE', summary: 'At least this large, for example 10MB' },
      'max-size': { type: 'string', value: 'SIZE', summary: 'At most this large' },
      long: { type: 'boolean', short: 'l', summary: 'With id, size, time and visibility' },
      space,
    },
    examples: [{ line: 'pakhus search -l invoice anna: --sort size --order desc', summary: 'Largest first' }],
    load: async () => (await import('./list.run.ts')).search,
  }),
  command({
    words: ['share'],
    group: 'files',
    summary: 'Print a link to a file that you can send to anybody',
    details: `The link opens a page with a button that downloads the file. It is printed this once. With --password, the password is asked for on a
terminal, and read from stdin otherwise.

${placesHelp}`,
    arguments: [{ name: 'place', summary: 'USER:PATH' }],
    options: {
      expires: {
        type: 'string',
        value: 'WHEN',
        summary: 'Ends after 30m, 12h, 7d, 4w or 1y, or at a date such as 2026-12-31',
      },
      password: { type: 'boolean', summary: 'Ask for a password before the download' },
      'max-downloads': { type: 'integer', value: 'N', min: 1, max: 1e9, summary: 'Ends after so many' },
      name: { type: 'string', value: 'TEXT', summary: 'For you, to tell links apart' },
      space,
    },
    examples: [{ line: 'pakhus share anna:2026/report.pdf --expires 7d', summary: 'For a week' }],
    load: async () => (await loadShares()).share,
  }),
  command({
    words: ['share', 'list'],
    group: 'files',
    summary: 'List the links to files of a user',
    details: placesHelp,
    arguments: [{ name: 'place', summary: 'USER:, or USER:PATH for one file', optional: true }],
    options: { space },
    load: async () => (await loadShares()).listShares,
  }),
  command({
    words: ['share', 'update'],
    group: 'files',
    summary: 'Change the given facts of a link, which stays the same',
    details: 'With --password, the new one is asked for on a terminal, and read from stdin otherwise.',
    arguments: shareArguments,
    options: {
      expires: { type: 'string', value: 'WHEN', summary: 'As for share, or never' },
      password: { type: 'boolean', summary: 'Set a password, or another one' },
      'no-password': { type: 'boolean', summary: 'Remove the password' },
      'max-downloads': { type: 'integer', value: 'N', min: 0, max: 1e9, summary: '0 for no limit' },
      name: { type: 'string', value: 'TEXT', summary: 'For you, to tell links apart; empty for none' },
      active: {
        type: 'string',
        value: 'ON',
        choices: ['on', 'off'],
        summary: 'Whether the link leads anywhere; off can be taken back',
      },
    },
    examples: [{ line: 'pakhus share update anna: ID --expires 30d', summary: 'For a month from now on' }],
    load: async () => (await loadShares()).updateShare,
  }),
  command({
    words: ['share', 'revoke'],
    group: 'files',
    summary: 'Delete a link: it leads to nothing from then on',
    arguments: shareArguments,
    load: async () => (await loadShares()).revokeShare,
  }),
  command({
    words: ['restore'],
    group: 'files',
    summary: 'Bring files back from the trash',
    details: restoring,
    arguments: [trashed],
    options: { jobs, space },
    examples: [{ line: 'pakhus restore anna:docs/a.pdf', summary: 'The one that was deleted last' }],
    load: async () => (await loadTrash()).restore,
  }),
  command({
    words: ['trash', 'list'],
    group: 'files',
    summary: 'List what is in the trash of a user',
    details: `What was deleted last comes first.\n\n${placesHelp}`,
    arguments: [{ name: 'place', summary: 'USER:, or USER:FOLDER/ for what was below it', optional: true }],
    options: { space },
    load: async () => (await loadTrash()).listTrash,
  }),
  command({
    words: ['trash', 'restore'],
    group: 'files',
    summary: 'Bring files back from the trash, like restore',
    details: restoring,
    arguments: [trashed],
    options: { jobs, space },
    load: async () => (await loadTrash()).restore,
  }),
  command({
    words: ['trash', 'empty'],
    group: 'files',
    summary: 'Delete what is in the trash of a user, for good',
    details: `Asks on a terminal.\n\n${placesHelp}`,
    arguments: [{ name: 'places', summary: 'USER:, USER:FOLDER/ or USER:PATH', many: true }],
    options: { yes, jobs, space },
    load: async () => (await loadTrash()).emptyTrash,
  }),
];
