// HTTP shapes of variants.

import { ImageFormat } from '../../contract/image-job.ts';
import { Choice, Named, Nullable, Timestamp, Uuid } from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import type { VariantRow } from './variants.sql.ts';

export const VariantName = Type.String({
  pattern: '^[a-z0-9-]{1,40}$',
  description: 'Lower-case letters, digits and hyphens.',
  examples: ['thumbnail'],
});

/** More would be no preview any more; such images are for image jobs. */
const sideMax = 4_096;
const Pixels = (description: string) =>
  Type.Integer({ minimum: 1, maximum: sideMax, description, examples: [320] });
const Width = Pixels('Of the box, in pixels. Absent or null: any width.');
const Height = Pixels('Of the box, in pixels. Absent or null: any height.');
const Quality = Type.Integer({
  minimum: 1,
  maximum: 100,
  description: 'No effect on png, which is lossless.',
  examples: [80],
});
const Fit = Choice(['inside', 'cover'], {
  'x-name': 'VariantFit',
  description:
    '`inside` scales the image down until it fits into the box, and never enlarges it. `cover` fills the box exactly: it needs both sides, cuts off what is outside, and enlarges a small image.',
});

export const VariantView = Named('Variant', {
  name: VariantName,
  format: ImageFormat,
  quality: Quality,
  width: Nullable(Width),
  height: Nullable(Height),
  fit: Fit,
  version: Type.Integer({
    minimum: 1,
    description: 'Counts the changes. Images are made anew after each.',
    examples: [1],
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const changeable = {
  quality: Type.Optional(Nullable(Quality)),
  width: Type.Optional(Nullable(Width)),
  height: Type.Optional(Nullable(Height)),
  fit: Type.Optional(Fit),
};

export const NewVariant = Named('NewVariant', { name: VariantName, format: ImageFormat, ...changeable });
export const VariantChange = Named('VariantChange', { format: Type.Optional(ImageFormat), ...changeable });

export type NewVariantInput = Static<typeof NewVariant>;
export type VariantChangeInput = Static<typeof VariantChange>;

export const VariantImage = Named('VariantImage', {
  url: Type.String({
    format: 'uri',
    description:
      'Delivers the image without a credential, as in `<img src>`. It ends early when the file or the variant changes or goes, or when the image was not used for long: ask again then.',
    examples: [
      'https://files.example.com/api/v1/objects/6f9619ff-8b86-4d01-b42d-00cf4fc964ff/0b8f0d3c-7f1e-4b36-9d5e-1f0f0a2b8c11?expires=1769860800&type=image%2Fwebp&disposition=inline&signature=abc',
    ],
  }),
  url_expires_at: Timestamp,
  width: Type.Integer({ minimum: 1, examples: [320] }),
  height: Type.Integer({ minimum: 1, examples: [240] }),
  size: Type.Integer({ minimum: 1, description: 'In bytes.', examples: [14_200] }),
});

export const RetryAfter = Type.Object({
  'Retry-After': Type.Integer({ description: 'In seconds.', examples: [2] }),
});

/** The answer while an image is made. */
export const PendingVariant = Named('PendingVariant', {
  status: Choice(['pending']),
  file_id: Uuid,
  variant: VariantName,
});

export const viewVariant = (row: VariantRow): Static<typeof VariantView> => ({
  name: row.name,
  format: row.format,
  quality: row.quality,
  width: row.width,
  height: row.height,
  fit: row.fit,
  version: row.version,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
