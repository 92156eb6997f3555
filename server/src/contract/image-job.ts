// An image job: its facts, and its shape in HTTP, which has more fields the further the job is.
import { type Static, Type } from '../kernel/schema.ts';
import { Choice, Named, Uuid } from './wire.ts';

export const ImageFormat = Choice(['webp', 'jpeg', 'png', 'avif'], { 'x-name': 'ImageFormat' });

export const JobView = Named('Job', {
  job_id: Uuid,
  file_id: Uuid,
  status: Choice(['pending', 'processing', 'done', 'failed'], { 'x-name': 'JobStatus' }),
  original_size: Type.Optional(Type.Integer({ description: 'Present when done.', examples: [2_400_000] })),
  compressed_size: Type.Optional(Type.Integer({ description: 'Present when done.', examples: [300_000] })),
  compression_ratio: Type.Optional(
    Type.Number({ description: 'Original size divided by compressed size.', examples: [8] }),
  ),
  format: Type.Optional(ImageFormat),
  width: Type.Optional(Type.Integer({ examples: [800] })),
  height: Type.Optional(Type.Integer({ examples: [600] })),
  error: Type.Optional(
    Type.String({ description: 'Present when failed.', examples: ['The image cannot be decoded'] }),
  ),
});

export interface JobFacts {
  readonly id: string;
  readonly file_id: string;
  readonly status: 'pending' | 'processing' | 'done' | 'failed';
  readonly original_size: number;
  readonly compressed_size: number | null;
  readonly format: 'webp' | 'jpeg' | 'png' | 'avif' | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly error: string | null;
}

export const viewJob = (row: JobFacts): Static<typeof JobView> => ({
  job_id: row.id,
  file_id: row.file_id,
  status: row.status,
  ...(row.status === 'done' ? resultOf(row) : {}),
  ...(row.status === 'failed' ? { error: row.error ?? 'The image could not be compressed' } : {}),
});

const resultOf = ({ original_size, compressed_size, format, width, height }: JobFacts) => ({
  original_size,
  compressed_size: compressed_size ?? 0,
  compression_ratio: Math.round((original_size / Math.max(1, compressed_size ?? 1)) * 100) / 100,
  ...(format === null ? {} : { format }),
  width: width ?? 0,
  height: height ?? 0,
});
