// HTTP shapes of shares.

import { Named, Nullable, resourceFields, Timestamp, Uuid } from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import type { ShareRow } from './shares.sql.ts';

const Label = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'For you, to tell shares apart. Whoever opens the link does not see it.',
  examples: ['For the printer'],
});

const Expiry = Type.String({
  format: 'date-or-time',
  'x-shown': { format: 'date-time' },
  description: 'From then on the link leads to nothing. Must be in the future. Null: never.',
  examples: ['2030-01-31T12:00:00.000Z'],
});

const SharePassword = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Must be given to download. Null: none.',
  examples: ['correct horse'],
});

const DownloadsMax = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description: 'How often the file can be downloaded. Null: without limit.',
  examples: [10],
});

const Active = Type.Boolean({
  description: 'If false, the link leads to nothing until it is true again.',
  examples: [true],
});

const inputs = {
  name: Type.Optional(Nullable(Label)),
  expires_at: Type.Optional(Nullable(Expiry)),
  password: Type.Optional(Nullable(SharePassword)),
  max_downloads: Type.Optional(Nullable(DownloadsMax)),
};

export const ShareInput = Named('NewShare', inputs);
export const ShareChange = Named('ShareChange', { ...inputs, active: Type.Optional(Active) });

export type ShareInputValues = Static<typeof ShareInput>;
export type ShareChangeValues = Static<typeof ShareChange>;

export const ShareView = Named('Share', {
  ...resourceFields,
  file_id: Uuid,
  name: Nullable(Label),
  expires_at: Nullable(Timestamp),
  has_password: Type.Boolean({ examples: [false] }),
  max_downloads: Nullable(DownloadsMax),
  downloads: Type.Integer({
    minimum: 0,
    description: 'Downloads so far. One that was interrupted and resumed counts once.',
    examples: [3],
  }),
  last_used_at: Nullable(Timestamp),
  active: Active,
});

export const ShareUrl = Type.String({
  description: 'The link to send. Shown only this once.',
  examples: ['https://files.example.com/s/mZ3nq0V5m9vXb1o7tQ2c8yFJ4sKdLwPzRaUeHgTiNxE'],
});

export const viewShare = (row: ShareRow): Static<typeof ShareView> => ({
  id: row.id,
  file_id: row.file_id,
  name: row.name,
  expires_at: row.expires_at,
  has_password: row.has_password,
  max_downloads: row.max_downloads,
  downloads: row.downloads,
  last_used_at: row.last_used_at,
  active: row.active,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
