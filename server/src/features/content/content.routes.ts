// The HTTP routes that answer with the bytes of files.

import { route } from '../../contract/route.ts';
import { Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { PendingVariant, RetryAfter } from '../variants/variants.wire.ts';
import { readContent } from './content.service.ts';
import { serveObject } from './content.signed.ts';
import {
  ContentHeaders,
  ContentQuery,
  contentReplyHeaders,
  DownloadHeaders,
  deliveryHeaders,
  partDescription,
  RedirectHeaders,
  rangeHeaders,
  SignedQuery,
} from './content.wire.ts';

const callers = ['project', 'integration', 'user', 'space'] as const;

export const contentRoutes = [
  route(
    {
      id: 'files.content',
      method: 'GET',
      path: '/project/users/:user/files/:fileId/content',
      summary: 'Download the content of a file',
      description:
        'The bytes themselves, on every store; HEAD works too. After an image has been compressed, these are the bytes of the result. Ranges and conditional requests work as HTTP defines them, so that downloads can be resumed and videos can be played from any place. With `variant`, the bytes are those of an image of the file in that size and format, as for `GET …/variants/{name}`. Counts as a download.',
      access: { actors: callers, scope: 'files:read' },
      rateLimit: 'integration',
      audit: 'file.download',
      params: Type.Object({ fileId: Uuid }),
      query: ContentQuery,
      reads: { headers: ContentHeaders },
      returns: { status: 200, contentType: '*/*', headers: Type.Object(contentReplyHeaders) },
      also: {
        202: {
          description: 'With `variant`: the image is in the making, ask again after `Retry-After`',
          body: PendingVariant,
          headers: RetryAfter,
        },
        206: {
          description: partDescription,
          contentType: '*/*',
          headers: Type.Object({ ...contentReplyHeaders, ...rangeHeaders('bytes 0-1023/4096') }),
        },
        304: {
          description: 'Not modified: the copy that the client has is current',
          headers: Type.Object(contentReplyHeaders),
        },
        307: { description: 'With `redirect=true`: the signed URL of the file', headers: RedirectHeaders },
      },
      errors: [
        'NOT_FOUND',
        'PRECONDITION_FAILED',
        'VALIDATION_ERROR',
        { code: 'VALIDATION_ERROR', status: 416, headers: Type.Object(rangeHeaders('bytes */4096')) },
      ],
    },
    async ({ deps, actor, user, params: { fileId }, query, call, audit }) =>
      readContent(deps, actor, user.id, fileId, query, call, audit),
  ),
  route(
    {
      id: 'files.download',
      method: 'GET',
      path: '/objects/:projectId/:fileId',
      summary: 'Download with a signed URL',
      description:
        "If objects are stored on the service's own disk, the `url` of a file points here. Use it as it is; HEAD works too. Once the file, its user or its project is deleted, the response is 404.",
      access: { public: true, why: 'the signature in the URL is the credential' },
      rateLimit: null,
      audit: null,
      params: Type.Object({ projectId: Uuid, fileId: Uuid }),
      reads: { query: SignedQuery, headers: DownloadHeaders },
      returns: { status: 200, contentType: '*/*', headers: Type.Object(deliveryHeaders) },
      also: {
        206: {
          description: 'The requested range',
          contentType: '*/*',
          headers: Type.Object({ ...deliveryHeaders, ...rangeHeaders('bytes 0-1023/4096') }),
        },
        304: {
          description: 'Not modified: the copy named by `If-None-Match` is current',
          headers: Type.Object(deliveryHeaders),
        },
      },
      errors: [
        'FORBIDDEN',
        'NOT_FOUND',
        { code: 'VALIDATION_ERROR', status: 412 },
        { code: 'VALIDATION_ERROR', status: 416, headers: Type.Object(rangeHeaders('bytes */4096')) },
      ],
    },
    async ({ deps, params: { projectId, fileId }, call }) =>
      serveObject(deps, toStorageKey({ projectId, id: fileId }), call),
  ),
];
