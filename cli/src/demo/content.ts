// What the demo shows: plans, people, spaces and some hundred files.
import { drawImage } from './png.ts';

const mebibyte = 2 ** 20;

export const plans = [
  { name: 'Standard', maxFileSize: 100 * mebibyte, storageLimit: 10 * 1024 * mebibyte },
  { name: 'Small', maxFileSize: 5 * mebibyte, storageLimit: 20 * mebibyte },
] as const;

export interface DemoUser {
  readonly externalId: string;
  readonly plan: (typeof plans)[number]['name'];
}

export const users: readonly DemoUser[] = [
  { externalId: 'anna', plan: 'Standard' },
  { externalId: 'bo', plan: 'Standard' },
  { externalId: 'chen', plan: 'Small' },
];

export interface DemoSpace {
  readonly user: string;
  readonly externalId: string;
  readonly name: string;
  readonly limitBytes: number;
}

export const spaces: readonly DemoSpace[] = [
  { user: 'anna', externalId: 'reception', name: 'Reception desk', limitBytes: 50 * mebibyte },
  { user: 'bo', externalId: 'workshop', name: 'Workshop tablet', limitBytes: 10 * mebibyte },
];

export interface DemoFile {
  readonly user: string;
  readonly folder: string;
  readonly name: string;
  readonly type: string;
  readonly tags: readonly string[];
  /** Made when it is sent. */
  content(): Buffer;
}

const places = ['harbour', 'lighthouse', 'island', 'bridge', 'market'];
const months = ['January', 'February', 'March', 'April', 'May', 'June'];

export const files: readonly DemoFile[] = users.flatMap(({ externalId: user }, person) => [
  ...places.flatMap((place, index) =>
    [1, 2, 3].map((number): DemoFile => {
      const seed = person * 20 + index * 3 + number;
      return {
        user,
        folder: `photos/${place}`,
        name: `${place}-${number}.png`,
        type: 'image/png',
        tags: ['photo', place],
        content: () => drawImage(320, 200, seed),
      };
    }),
  ),
  ...months.map(
    (month, index): DemoFile => ({
      user,
      folder: 'reports/2026',
      name: `${String(index + 1).padStart(2, '0')} ${month}.csv`,
      type: 'text/csv',
      tags: ['report'],
      content: () => Buffer.from(toTable(person, index)),
    }),
  ),
  ...places.flatMap((place) =>
    ['plan', 'notes', 'contacts'].map(
      (kind): DemoFile => ({
        user,
        folder: `notes/${place}`,
        name: `${kind}.md`,
        type: 'text/markdown',
        tags: [kind, place],
        content: () => Buffer.from(`# ${kind} for the ${place}\n\nWritten by ${user}.\n`),
      }),
    ),
  ),
]);

const toTable = (person: number, month: number): string =>
  [
    'day,visitors',
    ...Array.from({ length: 28 }, (_, day) => `${day + 1},${((day + 3) * (person + 5) * (month + 2)) % 97}`),
  ].join('\n');
