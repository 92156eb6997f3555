// The URL of an upload: tus and the IETF draft, told apart by their headers. The URL is the permission.

import type { Call } from '../../contract/call.ts';
import { route } from '../../contract/route.ts';
import { Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { largestFile } from '../files/files.checks.ts';
import { hashToken } from './uploads.create.ts';
import { storePart } from './uploads.direct.ts';
import { appendByDraft, describeByDraft, draftOptions, startDraft } from './uploads.draft.ts';
import { readForAnyOrigin } from './uploads.headers.ts';
import { cancelByUrl, probeUpload } from './uploads.service.ts';
import { appendByTus, describeByTus, isTus, startTus, tusOptions } from './uploads.tus.ts';
import {
  AppendHeaders,
  PartQuery,
  ProtocolHeaders,
  protocolErrors,
  StateHeaders,
} from './uploads.url.wire.ts';

const path = '/uploads/:token';
const access = { public: true, why: 'the secret in the URL is the credential' } as const;
const params = Type.Object({
  // Not checked: a malformed secret is as unknown as any other.
  token: Type.String({ examples: ['mZ3nq0V5m9vXb1o7tQ2c8yFJ4sKdLwPzRaUeHgTiNxE'] }),
});
/** Refusals carry the headers of the protocol as well. Returns the version of the draft, or null for tus. */
const start = (call: Call): number | null =>
  readForAnyOrigin(call, () => {
    if (!isTus(call.headers)) return startDraft(call);
    startTus(call);
    return null;
  });

export const uploadUrlRoutes = [
  route(
    {
      id: 'uploads.putPart',
      method: 'PUT',
      path: '/objects/:projectId/:uploadId/parts/:number',
      summary: 'Send a part to a signed URL',
      description:
        "If objects are stored on the service's own disk, the `url` of a part points here. Use it as it is. A body of another length is refused.",
      access: { public: true, why: 'the signature in the URL is the credential' },
      rateLimit: null,
      audit: null,
      params: Type.Object({
        projectId: Uuid,
        uploadId: Uuid,
        number: Type.Integer({ minimum: 1, maximum: 10_000, examples: [1] }),
      }),
      stream: ['*/*'],
      reads: { query: PartQuery },
      returns: {
        status: 200,
        headers: Type.Object({ ETag: Type.String({ examples: ['"d41d8cd98f00b204e9800998ecf8427e"'] }) }),
      },
      errors: ['FORBIDDEN', 'NOT_FOUND', { code: 'VALIDATION_ERROR', status: 422 }],
    },
    async ({ deps, params, call }) => call.setHeader('etag', await storePart(deps, params, call)),
  ),
  route(
    {
      id: 'uploads.probe',
      method: 'HEAD',
      path,
      summary: 'Ask for the offset of an upload',
      description:
        'A request that is still sending to this upload ends, because its client asks only if it has lost that connection. 204 for the IETF draft.',
      access,
      rateLimit: null,
      audit: null,
      params,
      optionsHeaders: (settings) => ({ ...tusOptions(settings), ...draftOptions(settings) }),
      reads: { headers: ProtocolHeaders },
      returns: { status: 200, headers: StateHeaders },
      also: { 204: { description: 'The same, by the IETF draft', headers: StateHeaders } },
      errors: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'],
    },
    async ({ deps, params: { token }, call }) => {
      const version = start(call);
      const row = await probeUpload(deps, token, call);
      if (version === null) return describeByTus(call, row);
      call.setStatus(204);
      describeByDraft(call, row, version, largestFile(deps, null));
    },
  ),
  route(
    {
      id: 'uploads.append',
      method: 'PATCH',
      path,
      summary: 'Send bytes of an upload',
      description:
        'At the current offset, in chunks of any size. When it answers, all bytes before the new offset are durable. If the connection is cut, what has arrived is kept: ask for the offset and go on. A later request takes over from an earlier one. The request that sends the last byte stores the file and names it in `Pakhus-File-Id`. Where PATCH is not possible, send POST with `X-HTTP-Method-Override: PATCH`.',
      access,
      rateLimit: null,
      audit: null,
      params,
      stream: ['application/offset+octet-stream', 'application/partial-upload'],
      reads: { headers: AppendHeaders },
      returns: { status: 204, headers: StateHeaders },
      also: { 201: { description: 'The same, by the IETF draft before version 8', headers: StateHeaders } },
      errors: [
        'NOT_FOUND',
        'CONFLICT',
        'PRECONDITION_FAILED',
        'STORAGE_LIMIT_EXCEEDED',
        'MIME_NOT_ALLOWED',
        'OVER_QUOTA',
        'FORBIDDEN',
        ...protocolErrors,
        { code: 'VALIDATION_ERROR', status: 422 },
      ],
    },
    async ({ deps, params: { token }, call }) =>
      (isTus(call.headers) ? appendByTus : appendByDraft)(deps, hashToken(token), call),
  ),
  route(
    {
      id: 'uploads.terminate',
      method: 'DELETE',
      path,
      summary: 'Cancel an upload by its URL',
      access,
      rateLimit: null,
      audit: 'upload.cancel',
      params,
      reads: { headers: ProtocolHeaders },
      returns: { status: 204 },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    },
    async ({ deps, params: { token }, call }) => {
      start(call);
      await cancelByUrl(deps, token, call);
    },
  ),
];
