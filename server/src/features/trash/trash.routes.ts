// The HTTP routes for the trash.

import { route } from '../../contract/route.ts';
import { Serialized } from '../../contract/serialized.ts';
import { Named, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { FileView } from '../files/files.wire.ts';
import { readSettings, restore, writeSettings } from './trash.service.ts';

const Settings = Named('ProjectSettings', {
  trash_days: Type.Integer({
    minimum: 0,
    maximum: 365,
    description:
      'How many days a deleted file stays in the trash. 0: there is no trash, and a deletion is final. Applies to files that are in the trash already, too.',
    examples: [30],
  }),
});

export const trashRoutes = [
  route(
    {
      id: 'trash.readSettings',
      method: 'GET',
      path: '/project/settings',
      summary: 'Read the settings of the project',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: null,
      returns: { status: 200, body: Type.Object({ settings: Settings }) },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor }) => ({ settings: await readSettings(deps, actor.projectId) }),
  ),
  route(
    {
      id: 'trash.writeSettings',
      method: 'PUT',
      path: '/project/settings',
      summary: 'Change the settings of the project',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'settings.update',
      body: Settings,
      returns: { status: 200, body: Type.Object({ settings: Settings }) },
      errors: [],
    },
    async ({ deps, actor, body, audit }) => ({
      settings: await writeSettings(deps, actor.projectId, body, audit),
    }),
  ),
  route(
    {
      id: 'trash.restore',
      method: 'POST',
      path: '/project/users/:user/files/:fileId/restore',
      summary: 'Bring a file back from the trash',
      description:
        'Refused, and the file stays in the trash, if the plan or the space does not allow it any more. An `expires_at` that has passed is removed.',
      access: { actors: ['project', 'integration', 'user', 'space'], scope: 'files:write' },
      rateLimit: 'integration',
      audit: 'file.restore',
      params: Type.Object({ fileId: Uuid }),
      returns: { status: 200, body: Type.Object({ file: FileView }) },
      errors: ['NOT_FOUND', 'STORAGE_LIMIT_EXCEEDED', 'FILE_TOO_LARGE', 'MIME_NOT_ALLOWED', 'OVER_QUOTA'],
    },
    async ({ deps, actor, user, params: { fileId }, audit }) => {
      const [file] = await restore(deps, actor, user, [fileId], audit);
      return new Serialized(`{"file":${file?.shown}}`);
    },
  ),
];
