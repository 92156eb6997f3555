// The HTTP routes for whole folders.

import { route } from '../../contract/route.ts';
import { invalid } from '../../kernel/error.ts';
import { Type } from '../../kernel/schema.ts';
import { validateFolder } from '../files/files.meta.ts';
import { visibleSpace } from '../files/files.service.ts';
import { Folder, SpaceFilter } from '../files/files.wire.ts';
import { moveTree, removeTree } from './folders.service.ts';

const callers = ['project', 'integration', 'user', 'space'] as const;
const Moved = Type.Object({
  files: Type.Integer({ minimum: 0, description: 'How many files.', examples: [42] }),
});

export const folderRoutes = [
  route(
    {
      id: 'folders.move',
      method: 'POST',
      path: '/project/users/:user/folders/move',
      summary: 'Move or rename a folder',
      description:
        'With all files in it and below it, at once. If there are files in `to` already, they stay where they are beside the moved ones. An empty `to` is the root. A space token moves the files of its space.',
      access: { actors: callers, scope: 'files:write' },
      rateLimit: 'integration',
      audit: 'folder.move',
      body: Type.Object({
        from: Folder,
        to: { ...Folder, examples: ['archive/2026'] },
        space_id: Type.Optional(SpaceFilter),
      }),
      returns: { status: 200, body: Moved },
      errors: [],
    },
    async ({ deps, actor, user, body, audit }) => {
      const from = validateFolder(body.from, 422, 'from');
      const to = validateFolder(body.to, 422, 'to');
      const space = visibleSpace(actor, body.space_id);
      return { files: await moveTree(deps, actor, user.id, space, { from, to }, audit) };
    },
  ),
  route(
    {
      id: 'folders.delete',
      method: 'DELETE',
      path: '/project/users/:user/folders',
      summary: 'Delete a folder',
      description:
        'With all files in it and below it, at once. They go to the trash if the project keeps one. If one of them is held by `retain_until`, none is deleted.',
      access: { actors: callers, scope: 'files:delete' },
      rateLimit: 'integration',
      audit: 'folder.delete',
      query: Type.Object({
        prefix: Type.Optional(Folder),
        space_id: Type.Optional(SpaceFilter),
        permanent: Type.Optional(Type.Boolean({ description: 'Past the trash.', examples: [false] })),
      }),
      returns: { status: 200, body: Moved },
      errors: ['LOCKED'],
    },
    async ({ deps, actor, user, query, audit }) => {
      const prefix = validateFolder(query.prefix ?? '', 400, 'prefix');
      if (prefix === '')
        throw invalid(400, [{ path: 'prefix', message: 'must name the folder to delete', code: 'required' }]);
      const space = visibleSpace(actor, query.space_id);
      const removal = { prefix, permanent: query.permanent ?? false };
      return { files: await removeTree(deps, actor, user.id, space, removal, audit) };
    },
  ),
];
