// The HTTP route of zips.

import { route } from '../../contract/route.ts';
import { Type } from '../../kernel/schema.ts';
import {
  ContentHeaders,
  contentReplyHeaders,
  partDescription,
  rangeHeaders,
} from '../content/content.wire.ts';
import { Folder, SpaceFilter } from '../files/files.wire.ts';
import { readZip } from './zip.service.ts';
import { filesMax } from './zip.sql.ts';

const { 'Repr-Digest': _, ...zipHeaders } = contentReplyHeaders;

export const zipRoutes = [
  route(
    {
      id: 'files.zip',
      method: 'GET',
      path: '/project/users/:user/files/zip',
      summary: 'Download many files as one zip',
      description: [
        `A folder with everything below it, or the files that you name: at most ${filesMax}. Give one of the two parameters.`,
        'Names in the zip are those in the folders: relative to the folder that you asked for, and with their whole folder if you named files. Files of the same name are numbered, as in `a (2).txt`. Characters that some system cannot have in a name become `_`. The order and the times (of the upload, in UTC) are fixed: as long as the files stay the same, so do all bytes and the ETag. So a download that broke off can be resumed with `Range` and `If-Range`.',
        'Nothing is compressed. HEAD tells the size. If a file changes or is deleted while it is being sent, the connection ends before the zip is complete; the next request gets another ETag. Counts as one download.',
      ].join('\n\n'),
      access: { actors: ['project', 'integration', 'user', 'space'], scope: 'files:read' },
      rateLimit: 'integration',
      audit: 'file.zip',
      query: Type.Object({
        folder: Type.Optional(Folder),
        ids: Type.Optional(
          Type.Array(Type.String({ maxLength: 16_384 }), {
            description:
              'Ids of files, separated by commas or in repeated parameters. A URL has room for about 400 of them.',
            examples: [['6f9619ff-8b86-4d01-b42d-00cf4fc964ff']],
          }),
        ),
        space_id: Type.Optional(SpaceFilter),
      }),
      reads: { headers: ContentHeaders },
      returns: { status: 200, contentType: 'application/zip', headers: Type.Object(zipHeaders) },
      also: {
        206: {
          description: partDescription,
          contentType: 'application/zip',
          headers: Type.Object({ ...zipHeaders, ...rangeHeaders('bytes 1024-4095/4096') }),
        },
        304: {
          description: 'Not modified: the copy that the client has is current',
          headers: Type.Object(zipHeaders),
        },
      },
      errors: [
        'NOT_FOUND',
        'PRECONDITION_FAILED',
        { code: 'VALIDATION_ERROR', status: 422 },
        { code: 'VALIDATION_ERROR', status: 416, headers: Type.Object(rangeHeaders('bytes */4096')) },
      ],
    },
    async ({ deps, actor, user, query, call, audit }) => readZip(deps, actor, user.id, query, call, audit),
  ),
];
