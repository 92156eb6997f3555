// Options that several commands for files have.
export const space = {
  type: 'string',
  value: 'ID',
  summary: 'Files of this space, or none for files outside of spaces',
} as const;
export const jobs = {
  type: 'integer',
  short: 'j',
  value: 'N',
  min: 1,
  max: 256,
  summary: 'Transfers at once; 64 by default, and fewer large ones',
} as const;
export const yes = { type: 'boolean', short: 'y', summary: 'Do not ask' } as const;
