// The HTTP route that does the same to many files.

import { route } from '../../contract/route.ts';
import type { Scope } from '../../contract/scope.ts';
import { Serialized } from '../../contract/serialized.ts';
import { Choice, Nullable, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { FileMeta, FileView } from '../files/files.wire.ts';
import { type BatchAction, runBatch } from './batch.service.ts';

const scopeOfAction: Readonly<Record<BatchAction, Scope>> = {
  update: 'files:write',
  delete: 'files:delete',
  restore: 'files:write',
  copy: 'files:write',
};

export const batchRoutes = [
  route(
    {
      id: 'batch.run',
      method: 'POST',
      path: '/project/users/:user/files/batch',
      summary: 'Change, delete, restore or copy many files',
      description:
        'All of the files, or none: an id that this user does not have is a 404 that names it, and nothing is done. `update` and `copy` take `set`, with the fields that all of them get; `space_id` is for `copy` only. `delete` needs the scope files:delete, every other action files:write.',
      access: {
        actors: ['project', 'integration', 'user', 'space'],
        scopeByBody: ['files:write', 'files:delete'],
      },
      rateLimit: 'integration',
      audit: 'file.update',
      body: Type.Object({
        ids: Type.Array(Uuid, { minItems: 1, maxItems: 1_000 }),
        action: Choice(['update', 'delete', 'restore', 'copy']),
        set: Type.Optional(
          Type.Object(
            { ...FileMeta.properties, space_id: Type.Optional(Nullable(Uuid)) },
            { examples: [{ folder: 'archive' }] },
          ),
        ),
      }),
      returns: {
        status: 200,
        body: Type.Object({
          files: Type.Optional(
            Type.Array(FileView, { description: 'In the order of `ids`, the copies after `copy`.' }),
          ),
          deleted: Type.Optional(Type.Array(Uuid, { description: 'The ids, after `delete`.' })),
        }),
      },
      errors: [
        'NOT_FOUND',
        'LOCKED',
        'STORAGE_LIMIT_EXCEEDED',
        'FILE_TOO_LARGE',
        'MIME_NOT_ALLOWED',
        'OVER_QUOTA',
      ],
    },
    async ({ deps, actor, user, body: { ids, action, set }, call, audit }) => {
      call.requireScope(scopeOfAction[action]);
      const fileIds = [...new Set(ids.map((id) => id.toLowerCase()))];
      return new Serialized(await runBatch(deps, actor, user, { action, fileIds, set }, call, audit));
    },
  ),
];
