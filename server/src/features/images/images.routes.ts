// The HTTP routes for images and their jobs.
import { Type } from 'typebox';
import { ImageFormat, JobView, viewJob } from '../../contract/image-job.ts';
import { route } from '../../contract/route.ts';
import { Choice, Uuid } from '../../contract/wire.ts';
import { newId } from '../../kernel/id.ts';
import { imagePresets } from '../../kernel/media/image-recipe.ts';
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
      description: 'Of no effect on png, which loses nothing.',
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
      description: `The original is stored and usable at once; a worker replaces it. Without a preset the result is webp at quality 80. Format, quality, width and height override the preset. Images are fitted inside, never enlarged.

Images are read as jpeg, png, webp, gif and avif, of at most 50 million pixels unless the operator has set another number, and 65,535 a side; one that stays larger than its new format can hold (16,383 a side for webp, 16,384 for avif, 65,500 for jpeg) is refused. Every other \`image/*\`, such as svg, tiff or heic, is accepted and stored as it is: its job fails, and says why, while the file stays.

${formRules}`,
      access: { actors: callers, scope: 'files:write' },
      rateLimit: 'integration',
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
      summary: 'How far the compression of an image is',
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
