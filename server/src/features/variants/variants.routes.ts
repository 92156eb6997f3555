// Variants over HTTP.

import { route } from '../../contract/route.ts';
import { Serialized } from '../../contract/serialized.ts';
import { Listing, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { buildVariantUrl, deliverVariant, retryAfterSeconds } from './variants.deliver.ts';
import {
  changeVariant,
  createVariant,
  listProjectVariants,
  readVariant,
  removeVariant,
} from './variants.service.ts';
import {
  NewVariant,
  PendingVariant,
  RetryAfter,
  VariantChange,
  VariantImage,
  VariantName,
  VariantView,
  viewVariant,
} from './variants.wire.ts';

const params = Type.Object({ name: VariantName });
const oneVariant = Type.Object({ variant: VariantView });
const owner = { access: { actors: ['project'] }, rateLimit: 'integration' } as const;
const reader = {
  access: { actors: ['project', 'integration', 'user', 'space'], scope: 'files:read' },
  rateLimit: 'integration',
} as const;

export const variantRoutes = [
  route(
    {
      id: 'variants.list',
      method: 'GET',
      path: '/project/variants',
      summary: 'List variants',
      description: 'All of them, by name: a project has at most 50.',
      ...reader,
      audit: null,
      returns: { status: 200, body: Listing('variants', VariantView) },
      errors: [],
    },
    async ({ deps, actor }) => {
      const rows = await listProjectVariants(deps, actor.projectId);
      return { variants: rows.map(viewVariant), next_cursor: null };
    },
  ),
  route(
    {
      id: 'variants.create',
      method: 'POST',
      path: '/project/variants',
      summary: 'Define a variant of images',
      description:
        'A size and format in which the images of the project can be read: by `GET …/files/{fileId}/content?variant=NAME`, or by the URL from `GET …/files/{fileId}/variants/NAME`. An image is made when somebody asks for it first, and kept. It counts to nobody’s quota. At most 50 per project.',
      ...owner,
      idempotent: true,
      audit: 'variant.create',
      body: NewVariant,
      returns: { status: 201, body: oneVariant },
      errors: ['CONFLICT'],
    },
    async ({ deps, actor, body, audit }) => ({
      variant: viewVariant(await createVariant(deps, actor.projectId, body, audit)),
    }),
  ),
  route(
    {
      id: 'variants.read',
      method: 'GET',
      path: '/project/variants/:name',
      summary: 'Read a variant',
      ...reader,
      audit: null,
      params,
      returns: { status: 200, body: oneVariant },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { name } }) => ({
      variant: viewVariant(await readVariant(deps.db, actor.projectId, name)),
    }),
  ),
  route(
    {
      id: 'variants.update',
      method: 'PUT',
      path: '/project/variants/:name',
      summary: 'Change a variant',
      description:
        'Changes only the given fields; null clears width and height, and sets quality to 80. From now on its images are made anew, when somebody asks for them. The name stays.',
      ...owner,
      audit: 'variant.update',
      params,
      body: VariantChange,
      returns: { status: 200, body: oneVariant },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { name }, body, audit }) => ({
      variant: viewVariant(await changeVariant(deps, actor.projectId, name, body, audit)),
    }),
  ),
  route(
    {
      id: 'variants.delete',
      method: 'DELETE',
      path: '/project/variants/:name',
      summary: 'Delete a variant',
      description: 'Its images are deleted within minutes. The files stay as they are.',
      ...owner,
      audit: 'variant.delete',
      params,
      returns: { status: 204 },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { name }, audit }) => removeVariant(deps, actor.projectId, name, audit),
  ),
  route(
    {
      id: 'variants.image',
      method: 'GET',
      path: '/project/users/:user/files/:fileId/variants/:name',
      summary: 'Get the URL of an image of a file, by a variant',
      description: `Makes the image if nobody has asked for it yet. If that takes longer than 5 seconds, the answer is 202: ask again after \`Retry-After\`. 422 if the file is no jpeg, png, webp, gif or avif, or cannot be decoded; this is remembered until the file or the variant changes. 503 with \`Retry-After\` while the project has 64 images in the making. Counts as a download.`,
      ...reader,
      audit: 'file.download',
      params: Type.Object({ fileId: Uuid, name: VariantName }),
      returns: { status: 200, body: VariantImage },
      also: {
        202: {
          description: 'The image is in the making: ask again after `Retry-After`',
          body: PendingVariant,
          headers: RetryAfter,
        },
      },
      errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
    },
    async ({ deps, actor, user, params: { fileId, name }, call, audit }) => {
      const image = await deliverVariant(deps, actor, user.id, fileId, name);
      if (image === 'pending') {
        call.setStatus(202);
        call.setHeader('retry-after', retryAfterSeconds);
        return new Serialized(JSON.stringify({ status: 'pending', file_id: fileId, variant: name }));
      }
      const metadata = { variant: name };
      deps.auditQueue.add(audit, { resourceType: 'file', resourceId: fileId, userId: user.id, metadata });
      call.countDownload();
      const { width, height, bytes: size } = image;
      return { ...buildVariantUrl(deps, call.origin, image), width, height, size };
    },
  ),
];
