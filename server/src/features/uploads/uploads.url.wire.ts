// The headers and parameters of the URLs that take bytes.
import { Type } from '../../kernel/schema.ts';

/** All of it is signed. */
export const PartQuery = Type.Object({
  expires: Type.String({ description: 'When the URL expires, in Unix seconds.', examples: ['1769860800'] }),
  size: Type.String({ description: 'The length of the part in bytes.', examples: ['8388608'] }),
  signature: Type.String({ examples: ['mZ3nq0V5m9vXb1o7tQ2c8yFJ4sKdLwPzRaUeHgTiNxE'] }),
});
const Offset = Type.String({
  pattern: '^\\d{1,15}$',
  description: 'Where to go on, in bytes.',
  examples: ['8388608'],
});
const protocol = {
  'Tus-Resumable': Type.Optional(
    Type.Literal('1.0.0', { description: 'For tus. Without it, the IETF draft applies.' }),
  ),
  'Upload-Draft-Interop-Version': Type.Optional(
    Type.String({ description: 'For the IETF draft: 3, 5, 6 or 8. The newest is assumed.', examples: ['8'] }),
  ),
};
const state = {
  'Upload-Offset': Offset,
  'Upload-Length': Type.Optional(
    Type.String({ description: 'Of the file, once it is known.', examples: ['16777216'] }),
  ),
  'Upload-Expires': Type.Optional(
    Type.String({
      description: 'tus: when the upload expires if no more bytes come.',
      examples: ['Sat, 31 Jan 2026 12:00:00 GMT'],
    }),
  ),
  'Upload-Complete': Type.Optional(
    Type.String({ description: 'Draft: `?1` once the file is stored.', examples: ['?0'] }),
  ),
  'Pakhus-File-Id': Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The file, once it is stored.',
      examples: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'],
    }),
  ),
};

export const ProtocolHeaders = Type.Object(protocol);
export const StateHeaders = Type.Object(state);

export const AppendHeaders = Type.Object({
  ...protocol,
  'Upload-Offset': Offset,
  'Content-Type': Type.String({
    description: 'tus: application/offset+octet-stream. Draft: application/partial-upload.',
    examples: ['application/offset+octet-stream'],
  }),
  'Upload-Checksum': Type.Optional(
    Type.String({
      description: 'tus: sha256, sha1 or md5 of the body, in base64.',
      examples: ['sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0='],
    }),
  ),
  'Upload-Length': Type.Optional(
    Type.String({ description: 'Of the whole file, if it was not known before.', examples: ['16777216'] }),
  ),
  'Upload-Complete': Type.Optional(
    Type.String({ description: 'Draft: `?1` if the file ends with this body.', examples: ['?1'] }),
  ),
});

/** Of a creation by tus or by the draft. */
export const CreatedHeaders = Type.Object({
  Location: Type.Optional(
    Type.String({
      description: 'tus and draft: the URL of the upload.',
      examples: ['https://files.example.com/api/v1/uploads/mZ3nq0V5m9vXb1o7tQ2c8yFJ4sKdLwPzRaUeHgTiNxE'],
    }),
  ),
  'Upload-Offset': Type.Optional(Offset),
  'Upload-Expires': state['Upload-Expires'],
  'Upload-Complete': state['Upload-Complete'],
  'Pakhus-File-Id': state['Pakhus-File-Id'],
});

/** Statuses that these protocols prescribe. */
export const protocolErrors = [
  { code: 'FILE_TOO_LARGE', status: 413 },
  { code: 'VALIDATION_ERROR', status: 400 },
  { code: 'VALIDATION_ERROR', status: 413 },
  { code: 'VALIDATION_ERROR', status: 415 },
  { code: 'VALIDATION_ERROR', status: 460 },
] as const;
