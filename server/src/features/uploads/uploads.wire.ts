// The HTTP shapes of uploads.

import {
  Bytes,
  Choice,
  controls,
  Named,
  Nullable,
  resourceFields,
  Timestamp,
  Uuid,
} from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import { uploadFields } from '../files/files.wire.ts';
import type { UploadRow } from './uploads.sql.ts';

export const FileName = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: `^[^${controls}]+$`,
  description: 'The name of the file.',
  examples: ['holiday.mp4'],
});

export const UploadCreate = Type.Object({
  name: FileName,
  size: Bytes('Of the file. It is reserved until the upload ends.'),
  mimeType: Type.String({ minLength: 1, maxLength: 255, examples: ['video/mp4'] }),
  mode: Type.Optional(
    Choice(['resumable', 'direct'], {
      description:
        '`resumable`: send the bytes to `url` by tus or by the IETF draft. `direct`: send parts straight to the object store.',
    }),
  ),
  ...uploadFields,
});

export const UploadView = Named('Upload', {
  ...resourceFields,
  user_id: Uuid,
  space_id: Nullable(Uuid),
  status: Choice(['uploading', 'completed', 'failed', 'expired', 'cancelled'], { 'x-name': 'UploadStatus' }),
  mode: Choice(['resumable', 'direct'], { 'x-name': 'UploadMode' }),
  name: Type.String({ examples: ['holiday.mp4'] }),
  size: Nullable(Bytes('Of the file; null while the client has not said it.')),
  offset: Bytes(
    'The bytes before this one are stored: go on from here. Always 0 for a direct upload that is not completed.',
  ),
  mimeType: Type.String({ examples: ['video/mp4'] }),
  part_size: Type.Optional(Bytes('Of all parts but the last. Only of a direct upload.')),
  url: Type.Optional(
    Type.String({
      description:
        'Where the bytes go. Only in the answer that creates a resumable upload: whoever has it can upload without a credential.',
      examples: ['https://files.example.com/api/v1/uploads/mZ3nq0V5m9vXb1o7tQ2c8yFJ4sKdLwPzRaUeHgTiNxE'],
    }),
  ),
  file_id: Type.Optional(Uuid),
  error: Type.Optional(
    Type.Object({
      code: Type.String({ examples: ['MIME_NOT_ALLOWED'] }),
      message: Type.String({ examples: ['The plan does not allow files of type image/png'] }),
    }),
  ),
  expires_at: Timestamp,
});

export const PartTargets = (description?: string) =>
  Type.Array(
    Type.Object({
      number: Type.Integer({ minimum: 1, examples: [1] }),
      url: Type.String({ examples: ['https://store.example.com/...'] }),
      size: Type.Integer({ minimum: 0, description: 'Bytes.', examples: [8_388_608] }),
      expires_at: Timestamp,
    }),
    description === undefined ? {} : { description },
  );

export const UploadCreated = Type.Object({
  upload: UploadView,
  parts: Type.Optional(
    PartTargets(
      'Where the first 20 parts of a direct upload go. Ask for the others when these are sent. A resumable upload has none.',
    ),
  ),
});

/** `partSize` only matters for a direct upload, `url` is only known to the request that creates it. */
export function viewUpload(
  row: UploadRow,
  { partSize, url }: { readonly partSize: (bytes: number) => number; readonly url?: string },
): Static<typeof UploadView> {
  const { mode, size, file_id, error } = row;
  return {
    id: row.id,
    user_id: row.user_id,
    space_id: row.space_id,
    status: row.status,
    mode,
    name: row.name,
    size,
    offset: row.status === 'completed' && size !== null ? size : row.received,
    mimeType: row.mime_type,
    ...(mode === 'direct' && size !== null ? { part_size: partSize(size) } : {}),
    ...(url === undefined ? {} : { url }),
    ...(file_id === null ? {} : { file_id }),
    ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
    expires_at: row.expires_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
