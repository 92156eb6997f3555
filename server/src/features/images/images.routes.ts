// The HTTP routes for images and their jobs.

import { ImageFormat, JobView, viewJob } from '../../contract/image-job.ts';
import { route } from '../../contract/route.ts';
import { Choice, Uuid } from '../../contract/wire.ts';
import { newId } from '../../kernel/id.ts';
import { imagePresets } from '../../kernel/media/image-recipe.ts';
import { Type } from '../../kernel/schema.ts';
import { bodyValidator } from '../../platform/validation.ts';
import { type UploadKind, uploadFile } from '../files/files.upload.ts';
import {
  FilePart,
  formFields,
  formRules,
  MetaPart,
  UploadHeaders,
  uploadFields,
} from '../files/files.wire.ts';
import { commitImage, type ImageInput, readJob } from './images.service.ts';

const callers = ['project', 'integration', 'user', 'space'] as const;
const Pixels = Type.Integer({ minimum: 1, maximum: 65_535, examples: [800] });

const presetWords = Object.entries(imagePresets).map(
  ([name, recipe]) => `\`${name}\`: ${Object.entries(recipe).flat().join(' ')}`,
);

const imageFields = {
  preset: Type.Optional(
    Choice(['thumbnail', 'medium', 'large', 'original'], {
      'x-name': 'ImagePreset',
      description: `${presetWords.join('; ')}.`,
    }),
  ),
  format: Type.Optional(ImageFormat),
  quality: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'No effect on png, which is lossless.',
      examples: [80],
    }),
  ),
  width: Type.Optional(Pixels),
  height: Type.Optional(Pixels),
  ...uploadFields,
};

const validate = bodyValidator(Type.Object(imageFields));

const imageUpload = (jobId: string): UploadKind<ImageInput> => ({
  fileField: 'image',
  fieldNames: Object.keys(imageFields),
  numberFields: ['quality', 'width', 'height'],
  validate,
  types: ['image/*'],
  commit: (deps, file, input, audit) => commitImage(deps, jobId, file, input, audit),
});

export const imageRoutes = [
  route(
    {
      id: 'images.upload',
      method: 'POST',
      path: '/project/users/:user/images',
      summary: 'Upload an image and have it compressed',
      description: `The original is stored and usable at once; a worker replaces it. Without a preset the result is webp at quality 80. Format, quality, width and height override the preset. Images are scaled down to fit, never enlarged.

Supported are jpeg, png, webp, gif and avif of at most 50 million pixels (the operator may set another limit) and 65,535 pixels a side. The job fails if the result is larger than its format allows (16,383 pixels a side for webp, 16,384 for avif, 65,500 for jpeg). Other \`image/*\` types, such as svg, tiff or heic, are stored as they are; their job fails with the reason, and the file stays.

${formRules}`,
      access: { actors: callers, scope: 'files:write' },
      rateLimit: 'integration',
      idempotent: true,
      audit: 'file.upload',
      multipart: true,
      reads: { headers: UploadHeaders },
      body: Type.Object({ image: FilePart, meta: MetaPart, ...imageFields, ...formFields }),
      returns: {
        status: 202,
        body: Type.Object({ job_id: Uuid, file_id: Uuid, status: Choice(['pending']) }),
      },
      errors: ['STORAGE_LIMIT_EXCEEDED', 'FILE_TOO_LARGE', 'MIME_NOT_ALLOWED', 'OVER_QUOTA'],
    },
    async ({ deps, actor, user, call, audit }) => {
      const jobId = newId();
      const file = await uploadFile(deps, actor, user, imageUpload(jobId), call, audit);
      return { job_id: jobId, file_id: file.id, status: 'pending' as const };
    },
  ),
  route(
    {
      id: 'images.job',
      method: 'GET',
      path: '/project/jobs/:jobId',
      summary: 'Get the status of an image job',
      access: { actors: callers, scope: 'files:read' },
      rateLimit: 'integration',
      audit: null,
      params: Type.Object({ jobId: Uuid }),
      returns: { status: 200, body: JobView },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { jobId } }) => viewJob(await readJob(deps, actor, jobId)),
  ),
];
