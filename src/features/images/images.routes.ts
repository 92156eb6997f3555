// Images and their jobs, over HTTP.
import { Type } from 'typebox';
import { route } from '../../contract/route.ts';
import { bodyValidator } from '../../contract/validation.ts';
import { Choice, Uuid } from '../../contract/wire.ts';
import { newId } from '../../kernel/id.ts';
import { type UploadKind, uploadFile } from '../files/files.upload.ts';
import { FilePart, MetaPart, uploadFields } from '../files/files.wire.ts';
import { commitImage, type ImageInput, readJob } from './images.service.ts';
import { ImageFormat, JobView, viewJob } from './images.wire.ts';

const callers = ['project', 'integration', 'user', 'space'] as const;
const Pixels = Type.Integer({ minimum: 1, maximum: 65_535, examples: [800] });

const imageFields = {
  preset: Type.Optional(Choice(['thumbnail', 'medium', 'large', 'original'], { 'x-name': 'ImagePreset' })),
  format: Type.Optional(ImageFormat),
  quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, examples: [80] })),
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
      description:
        'The original is stored and usable at once; a worker replaces it. Without a preset the result is webp at quality 80. Format, quality, width and height override the preset. Images are fitted inside, never enlarged.',
      access: { actors: callers, scope: 'files:write' },
      audit: 'file.upload',
      multipart: true,
      body: Type.Object({ image: FilePart, meta: MetaPart, ...imageFields }),
      returns: {
        status: 202,
        body: Type.Object({ job_id: Uuid, file_id: Uuid, status: Choice(['pending']) }),
      },
      errors: ['STORAGE_LIMIT_EXCEEDED', 'FILE_TOO_LARGE', 'MIME_NOT_ALLOWED'],
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
      audit: null,
      params: Type.Object({ jobId: Uuid }),
      returns: { status: 200, body: JobView },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { jobId } }) => viewJob(await readJob(deps, actor, jobId)),
  ),
];
