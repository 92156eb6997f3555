// The commands that work on files: ls, tree, put, get, cat, rm, cp, url and sync.
import { placesHelp } from '../files/place.ts';
import { command } from '../frame/command.ts';
import { jobs, space, yes } from './file-options.ts';

const follow = { type: 'boolean', summary: 'Follow symbolic links, which are skipped otherwise' } as const;
const dryRun = { type: 'boolean', short: 'n', summary: 'Only print what would be done' } as const;
const force = { type: 'boolean', short: 'f', summary: 'Overwrite local files that differ' } as const;
const newer = { type: 'boolean', summary: 'Overwrite local files that are older' } as const;
const replace = { type: 'boolean', summary: 'Delete the file of the same name after the upload' } as const;
const resend = { type: 'boolean', summary: 'Send files that are there already as well' } as const;
const facts = {
  tag: { type: 'string', value: 'TAG', multiple: true, summary: 'Tag of the files; may be repeated' },
  classifier: { type: 'string', value: 'TEXT', summary: 'Classifier of the files' },
  visibility: { type: 'string', value: 'WHO', choices: ['private', 'public'], summary: 'Who may read them' },
  meta: { type: 'string', value: 'KEY=VALUE', multiple: true, summary: 'Metadata; may be repeated' },
  type: { type: 'string', value: 'TYPE', summary: 'MIME type, instead of the one of the extension' },
  expires: {
    type: 'string',
    value: 'WHEN',
    summary: 'They go after 12h, 30d, 4w or 1y, or at a date such as 2026-12-31',
  },
} as const;
const retain = {
  type: 'string',
  value: 'WHEN',
  summary: 'Nobody can delete them for 30d or 7y, or until a date; for the owner of the project',
} as const;

const interruptible =
  'An interrupted command continues where it was when it is run again, also after a restart of the machine.';

export const fileCommands = [
  command({
    words: ['ls'],
    group: 'files',
    summary: 'List users, or the folders and files of one',
    details: placesHelp,
    arguments: [
      { name: 'place', summary: 'USER:FOLDER; without it, users and what they store', optional: true },
    ],
    options: {
      long: { type: 'boolean', short: 'l', summary: 'With id, size, time and visibility' },
      recursive: { type: 'boolean', short: 'r', summary: 'With everything below' },
      space,
    },
    examples: [{ line: 'pakhus ls -l anna:docs', summary: 'What is in a folder' }],
    load: async () => (await import('./list.run.ts')).ls,
  }),
  command({
    words: ['tree'],
    group: 'files',
    summary: 'Draw the folders and files of a user as a tree',
    details: placesHelp,
    arguments: [{ name: 'place', summary: 'USER:FOLDER' }],
    options: { space },
    load: async () => (await import('./list.run.ts')).tree,
  }),
  command({
    words: ['put'],
    group: 'files',
    summary: 'Upload files and folders',
    details: `The last argument is the target. If it ends with a slash or has no path, sources go into that folder; otherwise it is the
new name of the only source. A folder is uploaded with its name, or without it if a slash follows. - is stdin. A file
that is there already, with the same size and content, is not sent again; a different one of the same name stays beside
the new one, unless you say --replace. --expires and --retain are set on files that are there already as well. A hold
is never shortened, and the service refuses it from anybody but the owner of the project.
${interruptible}

${placesHelp}`,
    arguments: [
      {
        name: 'paths',
        summary: 'Files, folders, patterns or -, then USER:FOLDER/ or USER:NAME',
        many: true,
        completes: 'file',
      },
    ],
    options: { ...facts, retain, replace, force: resend, follow, jobs, space },
    examples: [
      { line: 'pakhus put report.pdf photos anna:2026/', summary: 'A file and a folder into a folder' },
      {
        line: 'pg_dump shop | pakhus put - anna:backups/shop.sql --expires 30d',
        summary: 'From a pipe, for a month',
      },
    ],
    load: async () => (await import('./transfer.run.ts')).put,
  }),
  command({
    words: ['get'],
    group: 'files',
    summary: 'Download files and folders',
    details: `The last argument is where to, the current folder if there is none; - is stdout. A file goes into a folder that exists;
a folder is downloaded with its name into a target that ends with a slash, and becomes the target otherwise. Every file is checked against its sha256
before it gets its name. Local files that differ are not overwritten unless you say so. ${interruptible}

${placesHelp}`,
    arguments: [
      { name: 'places', summary: 'USER:PATH..., then a local path or -', many: true, completes: 'file' },
    ],
    options: { force, newer, follow, jobs, space },
    examples: [
      { line: 'pakhus get anna:2026/ backup', summary: 'What is in a folder' },
      { line: "pakhus get 'anna:2026/*.pdf' .", summary: 'By a pattern' },
    ],
    load: async () => (await import('./transfer.run.ts')).get,
  }),
  command({
    words: ['cat'],
    group: 'files',
    summary: 'Write files to stdout',
    details: placesHelp,
    whenOutputCloses: 'end',
    arguments: [{ name: 'places', summary: 'USER:PATH', many: true }],
    options: { space },
    load: async () => (await import('./transfer.run.ts')).cat,
  }),
  command({
    words: ['cp'],
    group: 'files',
    summary: 'Copy files between places, like put and get',
    details: `From a local path to a place it is put, the other way round it is get. From place to place, tags, classifier, metadata and
visibility go with the bytes. Between places of one user the service copies by itself; to another user, or with --tag, --classifier, --meta or --type,
the bytes pass through this machine and are checked. A copy neither expires nor is held unless you say so.

${placesHelp}`,
    arguments: [{ name: 'paths', summary: 'Sources, then the target', many: true, completes: 'file' }],
    options: {
      ...facts,
      retain,
      replace,
      force: { ...force, summary: 'Overwrite, or send again' },
      newer,
      follow,
      jobs,
      space,
    },
    examples: [{ line: 'pakhus cp anna:docs/a.pdf ben:inbox/', summary: 'To another user' }],
    load: async () => (await import('./transfer.run.ts')).cp,
  }),
  command({
    words: ['rm'],
    group: 'files',
    summary: 'Delete files',
    details: `Asks on a terminal. If the project keeps a trash, files go there, and pakhus restore brings them back. A folder is
deleted at once: with everything in it, or, if one of its files is held, not at all.

${placesHelp}`,
    arguments: [{ name: 'places', summary: 'USER:PATH', many: true }],
    options: {
      recursive: { type: 'boolean', short: 'r', summary: 'Delete folders with everything in them' },
      permanent: { type: 'boolean', summary: 'Past the trash, for good' },
      yes,
      'dry-run': dryRun,
      jobs,
      space,
    },
    load: async () => (await import('./remove.run.ts')).rm,
  }),
  command({
    words: ['url'],
    group: 'files',
    summary: 'Print a URL that downloads a file without a credential',
    details: `Private files get a signed URL, valid for as long as the service is set to; public ones may have a permanent one.

${placesHelp}`,
    arguments: [{ name: 'place', summary: 'USER:PATH' }],
    options: { space },
    load: async () => (await import('./list.run.ts')).url,
  }),
  command({
    words: ['sync'],
    group: 'files',
    summary: 'Make a folder like another one, local to remote or back',
    details: `Compares size, then time, and the sha256 where times differ. A new version is stored before the old one goes, and nothing
is deleted before everything was transferred: it may be interrupted at any moment and run again. Remote files of the
same name: the newest counts; --delete removes the others. Without --space, files outside of spaces are meant.
--expires is for what is sent.

${placesHelp}`,
    arguments: [
      { name: 'source', summary: 'A local folder or USER:FOLDER', completes: 'folder' },
      { name: 'target', summary: 'USER:FOLDER or a local folder', completes: 'folder' },
    ],
    options: {
      delete: { type: 'boolean', summary: 'Delete what the source does not have' },
      'dry-run': dryRun,
      checksum: {
        type: 'boolean',
        short: 'c',
        summary: 'Compare the sha256 even if size and time are the same',
      },
      yes: { ...yes, summary: 'With --delete: also if the source is empty' },
      ...facts,
      follow,
      jobs,
      space,
    },
    examples: [
      { line: 'pakhus sync --delete site anna:www', summary: 'A local folder to the service' },
      { line: 'pakhus sync anna:www copy', summary: 'And back' },
    ],
    load: async () => (await import('./sync.run.ts')).sync,
  }),
];
