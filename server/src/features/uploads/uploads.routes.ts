// The HTTP routes for uploads: the JSON API, and creation by the two upload protocols.

import { route } from '../../contract/route.ts';
import { Listing, Page, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { mergeValues, noValues } from '../files/files.meta.ts';
import { buildFileUrl, serializeDetail } from '../files/files.objects.ts';
import { readFile } from '../files/files.service.ts';
import { FileDetail, viewDetail } from '../files/files.wire.ts';
import { beginUpload } from './uploads.create.ts';
import { completeDirect, firstParts, openParts } from './uploads.direct.ts';
import { createByDraft, draftOptions } from './uploads.draft.ts';
import { toUploadUrl } from './uploads.headers.ts';
import { addBytes, cancelUpload, listOfUser, readUpload, toScope } from './uploads.service.ts';
import { createByTus, tusOptions } from './uploads.tus.ts';
import { CreatedHeaders, protocolErrors } from './uploads.url.wire.ts';
import { PartTargets, UploadCreate, UploadCreated, UploadView, viewUpload } from './uploads.wire.ts';

const callers = ['project', 'integration', 'user', 'space'] as const;
const reading = { actors: callers, scope: 'files:read' } as const;
const writing = { actors: callers, scope: 'files:write' } as const;
const params = Type.Object({ uploadId: Uuid });
const path = '/project/users/:user/uploads';
const refusals = [
  'STORAGE_LIMIT_EXCEEDED',
  'FILE_TOO_LARGE',
  'MIME_NOT_ALLOWED',
  'OVER_QUOTA',
  'CONFLICT',
] as const;

/** What creations by tus and by the draft have in common. */
const byProtocol = {
  method: 'POST',
  path,
  access: writing,
  rateLimit: 'integration',
  audit: 'upload.create',
  stream: [],
  returns: { status: 201 },
  errors: refusals,
} as const;

export const uploadRoutes = [
  route(
    {
      id: 'uploads.create',
      method: 'POST',
      path,
      summary: 'Create an upload that survives a cut connection',
      description:
        'Reserves the size, so that the upload cannot fail for lack of room at its end. Send the bytes of a `resumable` upload to its `url` with any tus 1.0 client, or by the IETF draft; of a `direct` one, send parts to the object store: the answer has URLs for the first ones. A request with a `Tus-Resumable` header is a tus creation instead, one with `Upload-Complete` a creation by the draft: both answer 201 with `Location` and no body.',
      access: writing,
      rateLimit: 'integration',
      idempotent: true,
      audit: 'upload.create',
      optionsHeaders: (settings) => ({ ...tusOptions(settings), ...draftOptions(settings) }),
      body: UploadCreate,
      returns: { status: 201, body: UploadCreated, headers: CreatedHeaders },
      errors: [...refusals, 'PRECONDITION_FAILED', ...protocolErrors],
    },
    async ({ deps, actor, user, body, call, audit }) => {
      const { name, size, mimeType, mode = 'resumable', space_id = null, sha256, ...meta } = body;
      const values = mergeValues(noValues, meta);
      const wishes = { name, size, mimeType, mode, spaceId: space_id, sha256, values };
      const { row, token, object } = await beginUpload(deps, actor, user, wishes, audit);
      const partSize = deps.objects.staged.partBytesFor;
      const isEmpty = size === 0 && mode === 'resumable';
      const nothing = { raw: call.raw, length: 0, size: null, isEnd: false, checksum: null };
      const upload = { projectId: row.project_id, id: row.id };
      const shown = isEmpty ? await addBytes(deps, upload, 0, nothing, call) : row;
      return {
        upload: viewUpload(
          shown,
          token === null ? { partSize } : { partSize, url: toUploadUrl(call, token) },
        ),
        ...(object && { parts: firstParts(deps, object, size, call) }),
      };
    },
  ),
  route(
    { ...byProtocol, id: 'uploads.createByTus', dialect: 'tus', summary: 'Create an upload by tus' },
    async ({ deps, actor, user, call, audit }) => createByTus(deps, actor, user, call, audit),
  ),
  route(
    {
      ...byProtocol,
      id: 'uploads.createByDraft',
      dialect: 'draft',
      summary: 'Create an upload by the IETF draft',
    },
    async ({ deps, actor, user, call, audit }) => createByDraft(deps, actor, user, call, audit),
  ),
  route(
    {
      id: 'uploads.list',
      method: 'GET',
      path,
      summary: 'List uploads',
      description:
        'Newest first: unfinished ones, and those that ended within the last 24 hours. A space token sees those into its space.',
      access: reading,
      rateLimit: 'integration',
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('uploads', UploadView) },
      errors: [],
    },
    async ({ deps, actor, user, query }) => {
      const { rows, next_cursor } = await listOfUser(deps, toScope(actor, user.id), query);
      const partSize = deps.objects.staged.partBytesFor;
      return { uploads: rows.map((row) => viewUpload(row, { partSize })), next_cursor };
    },
  ),
  route(
    {
      id: 'uploads.read',
      method: 'GET',
      path: `${path}/:uploadId`,
      summary: 'Read an upload',
      access: reading,
      rateLimit: 'integration',
      audit: null,
      params,
      returns: { status: 200, body: Type.Object({ upload: UploadView }) },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { uploadId } }) => {
      const row = await readUpload(deps, toScope(actor, user.id), uploadId);
      return { upload: viewUpload(row, { partSize: deps.objects.staged.partBytesFor }) };
    },
  ),
  route(
    {
      id: 'uploads.cancel',
      method: 'DELETE',
      path: `${path}/:uploadId`,
      summary: 'Cancel an upload',
      description:
        'Its room is free at once, and its bytes are deleted. A completed upload is a file: delete that.',
      access: writing,
      rateLimit: 'integration',
      audit: 'upload.cancel',
      params,
      returns: { status: 204 },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    async ({ deps, actor, user, params: { uploadId }, audit }) =>
      cancelUpload(deps, toScope(actor, user.id), uploadId, audit),
  ),
  route(
    {
      id: 'uploads.parts',
      method: 'POST',
      path: `${path}/:uploadId/parts`,
      summary: 'Get URLs for parts of a direct upload',
      description:
        'Send each part by PUT to its URL, with exactly `size` bytes and no credential, in any order and several at a time. Keep the `ETag` of each answer for the completion. Ask again for parts whose URL has expired.',
      access: writing,
      rateLimit: 'integration',
      audit: null,
      params,
      body: Type.Object({
        numbers: Type.Array(Type.Integer({ minimum: 1, maximum: 10_000, examples: [1] }), {
          minItems: 1,
          maxItems: 100,
          description: 'Parts are numbered from 1.',
          examples: [[1]],
        }),
      }),
      returns: { status: 200, body: Type.Object({ parts: PartTargets() }) },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    async ({ deps, actor, user, params: { uploadId }, body, call }) => {
      const row = await readUpload(deps, toScope(actor, user.id), uploadId);
      return { parts: await openParts(deps, row, body.numbers, call) };
    },
  ),
  route(
    {
      id: 'uploads.complete',
      method: 'POST',
      path: `${path}/:uploadId/complete`,
      summary: 'Complete a direct upload',
      description:
        'Checks that all parts are there with the given ETags, and stores the file. Safe to repeat: a completed upload answers 200 with the same file. Without a `sha256` at creation, that of the file is null until a worker has read it.',
      access: writing,
      rateLimit: 'integration',
      audit: 'file.upload',
      params,
      body: Type.Object({
        parts: Type.Array(
          Type.Object({
            number: Type.Integer({ minimum: 1, maximum: 10_000, examples: [1] }),
            etag: Type.String({
              minLength: 1,
              maxLength: 128,
              examples: ['"d41d8cd98f00b204e9800998ecf8427e"'],
            }),
          }),
          { maxItems: 10_000, description: 'All parts, in order.' },
        ),
      }),
      returns: { status: 201, body: Type.Object({ file: FileDetail }) },
      also: { 200: { description: 'It was completed before', body: Type.Object({ file: FileDetail }) } },
      errors: ['NOT_FOUND', ...refusals],
    },
    async ({ deps, actor, user, params: { uploadId }, body, call }) => {
      const file = await completeDirect(deps, toScope(actor, user.id), user, uploadId, body.parts, call);
      if (typeof file !== 'string') return { file: viewDetail(file, buildFileUrl(deps, call.origin, file)) };
      call.setStatus(200);
      return serializeDetail(deps, call.origin, await readFile(deps, actor, user.id, file));
    },
  ),
];
