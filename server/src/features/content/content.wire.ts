// The HTTP shapes of downloads.

import { Choice } from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import { VariantName } from '../variants/variants.wire.ts';

/** All of it is signed. */
export const SignedQuery = Type.Object({
  expires: Type.String({
    pattern: '^[1-9][0-9]{0,14}$',
    description: 'When the URL expires, in Unix seconds.',
    examples: ['1769860800'],
  }),
  type: Type.String({ description: 'The Content-Type of the response.', examples: ['application/pdf'] }),
  disposition: Type.String({
    description: 'The Content-Disposition of the response.',
    examples: ['attachment; filename="invoice.pdf"'],
  }),
  signature: Type.String({
    pattern: '^[A-Za-z0-9_-]{43}$',
    description: 'Signs the path and the other parameters.',
    examples: ['mZ3nq0V5m9vXb1o7tQ2c8yFJ4sKdLwPzRaUeHgTiNxE'],
  }),
});

export const DownloadHeaders = Type.Object({
  Range: Type.Optional(
    Type.String({
      description:
        'Byte ranges, at most 32. Several get a `multipart/byteranges` answer. An invalid header is ignored.',
      examples: ['bytes=0-1023'],
    }),
  ),
  'If-Match': Type.Optional(
    Type.String({
      description: 'The ETags that the file may have, or `*`; otherwise 412.',
      examples: ['"3xk9-sg-1qfl6ezvgw"'],
    }),
  ),
  'If-None-Match': Type.Optional(
    Type.String({ description: 'ETags of cached copies, or `*`.', examples: ['"3xk9-sg-1qfl6ezvgw"'] }),
  ),
  'If-Range': Type.Optional(
    Type.String({
      description: 'The ETag that `Range` applies to. If the file has another one, the whole file is sent.',
      examples: ['"3xk9-sg-1qfl6ezvgw"'],
    }),
  ),
});

export const deliveryHeaders = {
  ETag: Type.String({ examples: ['"3xk9-sg-1qfl6ezvgw"'] }),
  'Last-Modified': Type.String({ examples: ['Sat, 31 Jan 2026 12:00:00 GMT'] }),
  'Accept-Ranges': Type.Literal('bytes'),
  'Content-Disposition': Type.String({ examples: ['attachment; filename="invoice.pdf"'] }),
};
export const rangeHeaders = (example: string) => ({ 'Content-Range': Type.String({ examples: [example] }) });

export const ContentQuery = Type.Object({
  disposition: Type.Optional(
    Choice(['inline', 'attachment'], {
      description:
        'Whether a browser displays the file or saves it. By default, what it can display. Types that could run scripts are always saved.',
    }),
  ),
  redirect: Type.Optional(
    Type.Boolean({
      description: 'Answer with a redirect to a signed URL of the store instead of the bytes.',
      examples: [false],
    }),
  ),
  variant: Type.Optional(VariantName),
});

export type ContentWishes = Static<typeof ContentQuery>;

const etagExample = '"kQm3bYqfC0n1vZ9sT2hJxw"';

export const ContentHeaders = Type.Object({
  Range: Type.Optional(
    Type.String({
      description:
        'Byte ranges, at most 32. Several get a `multipart/byteranges` answer; ranges that touch are joined. An invalid header is ignored.',
      examples: ['bytes=0-1023'],
    }),
  ),
  'If-Match': Type.Optional(
    Type.String({
      description: 'The ETags that the content may have; otherwise 412.',
      examples: [etagExample],
    }),
  ),
  'If-None-Match': Type.Optional(
    Type.String({ description: 'ETags of cached copies: 304 if one is current.', examples: [etagExample] }),
  ),
  'If-Modified-Since': Type.Optional(
    Type.String({
      description:
        'The Last-Modified of a cached copy: 304 if it is current. Ignored beside `If-None-Match`.',
      examples: ['Sat, 31 Jan 2026 12:00:00 GMT'],
    }),
  ),
  'If-Range': Type.Optional(
    Type.String({
      description:
        'The ETag or the Last-Modified of the part that you have. If the content has changed since, `Range` is ignored and everything is sent.',
      examples: [etagExample],
    }),
  ),
});

export const contentReplyHeaders = {
  ...deliveryHeaders,
  ETag: Type.String({
    description: 'Names these bytes. It stays when only the metadata of the file changes.',
    examples: [etagExample],
  }),
  'Repr-Digest': Type.Optional(
    Type.String({
      description:
        'SHA-256 of the whole content (RFC 9530), also in the answer to a range. Absent while it is not known.',
      examples: ['sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'],
    }),
  ),
};

export const partDescription =
  'The requested ranges; several as `multipart/byteranges`, where each part has its `Content-Range`';

export const RedirectHeaders = Type.Object({
  Location: Type.String({ examples: ['https://files.example.com/...'] }),
});
