// The HTTP route that copies a file.

import { route } from '../../contract/route.ts';
import { Nullable, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { buildFileUrl } from '../files/files.objects.ts';
import { FileDetail, Folder, Visibility, viewDetail } from '../files/files.wire.ts';
import { FileName } from '../uploads/uploads.wire.ts';
import { copyFiles } from './copies.service.ts';

export const copyRoutes = [
  route(
    {
      id: 'copies.create',
      method: 'POST',
      path: '/project/users/:user/files/:fileId/copy',
      summary: 'Copy a file',
      description:
        'The copy has the content that the file has now, and is charged like an upload. It takes over folder, tags, classifier, metadata, visibility and space unless you say otherwise; not `expires_at` and `retain_until`. A space token copies within its space.',
      access: { actors: ['project', 'integration', 'user', 'space'], scope: 'files:write' },
      rateLimit: 'integration',
      idempotent: true,
      audit: 'file.copy',
      params: Type.Object({ fileId: Uuid }),
      body: Type.Object({
        name: Type.Optional(FileName),
        folder: Type.Optional(Nullable(Folder)),
        space_id: Type.Optional(Nullable(Uuid)),
        visibility: Type.Optional(Visibility),
      }),
      returns: { status: 201, body: Type.Object({ file: FileDetail }) },
      errors: ['NOT_FOUND', 'STORAGE_LIMIT_EXCEEDED', 'FILE_TOO_LARGE', 'MIME_NOT_ALLOWED', 'OVER_QUOTA'],
    },
    async ({ deps, actor, user, params: { fileId }, body, call, audit }) => {
      const [file] = await copyFiles(deps, actor, user, [fileId], body, call, audit);
      if (!file) throw new Error('The copy was committed without a row');
      return { file: viewDetail(file, buildFileUrl(deps, call.origin, file)) };
    },
  ),
];
