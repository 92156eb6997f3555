// The commands for image variants: list, set, rm and get.
import { placesHelp } from '../files/place.ts';
import { command } from '../frame/command.ts';
import { space } from './file-options.ts';

const load = () => import('./variants.run.ts');
const variant = { name: 'variant', summary: 'Name: lower-case letters, digits and hyphens' } as const;
const side = { type: 'integer', value: 'PIXELS', min: 0, max: 4096 } as const;

export const variantCommands = [
  command({
    words: ['variants', 'list'],
    group: 'project',
    summary: 'List the sizes and formats in which images can be read',
    load: async () => (await load()).listVariants,
  }),
  command({
    words: ['variants', 'set'],
    group: 'project',
    summary: 'Define an image variant, or change the given fields of one',
    details:
      'For the owner of the project. After a change, images are made anew when somebody asks for them.',
    arguments: [variant],
    options: {
      format: {
        type: 'string',
        value: 'FORMAT',
        choices: ['webp', 'jpeg', 'png', 'avif'],
        summary: 'Of the images; a new variant needs it',
      },
      width: { ...side, summary: 'Of the box; 0 for any width' },
      height: { ...side, summary: 'Of the box; 0 for any height' },
      fit: {
        type: 'string',
        value: 'HOW',
        choices: ['inside', 'cover'],
        summary: 'inside scales down until it fits, cover fills the box and cuts off the rest',
      },
      quality: { type: 'integer', value: 'N', min: 1, max: 100, summary: '80 if not given' },
    },
    examples: [
      {
        line: 'pakhus variants set preview --format webp --width 160 --height 160 --fit cover',
        summary: 'Small squares',
      },
    ],
    load: async () => (await load()).setVariant,
  }),
  command({
    words: ['variants', 'rm'],
    group: 'project',
    summary: 'Delete an image variant; the files stay as they are',
    details: 'For the owner of the project.',
    arguments: [variant],
    load: async () => (await load()).removeVariant,
  }),
  command({
    words: ['variants', 'get'],
    group: 'files',
    summary: 'Download an image in a variant, or print a URL of it',
    details: `Makes the image if nobody has asked for it yet, and waits for it. Without a target it prints a URL that needs no
credential and ends after a while. In a folder the image is called NAME-VARIANT.FORMAT.

${placesHelp}`,
    arguments: [
      variant,
      { name: 'place', summary: 'USER:PATH of an image' },
      {
        name: 'target',
        summary: 'A local file or folder, or - for stdout',
        optional: true,
        completes: 'file',
      },
    ],
    options: { force: { type: 'boolean', short: 'f', summary: 'Overwrite a file that is there' }, space },
    examples: [{ line: 'pakhus variants get preview anna:photos/a.jpg a.webp', summary: 'To a file' }],
    load: async () => (await load()).getVariant,
  }),
];
