// Project keys over HTTP.

import { route } from '../../contract/route.ts';
import {
  ApiKey,
  Listing,
  Name,
  Named,
  Nullable,
  Page,
  resourceFields,
  Timestamp,
  Uuid,
} from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import { createProjectKey, type KeyRow, listProjectKeys, revokeProjectKey } from './keys.service.ts';

const KeyView = Named('ApiKey', {
  ...resourceFields,
  name: Nullable(Name),
  key_prefix: Type.String({
    description: 'The first characters of the key, to recognize it.',
    examples: ['pak_01234567'],
  }),
  active: Type.Boolean({ examples: [true] }),
  last_used_at: Nullable(Timestamp),
});

const viewKey = ({
  id,
  name,
  key_prefix,
  active,
  last_used_at,
  created_at,
  updated_at,
}: KeyRow): Static<typeof KeyView> => ({
  id,
  name,
  key_prefix,
  active,
  last_used_at,
  created_at,
  updated_at,
});

export const keyRoutes = [
  route(
    {
      id: 'keys.list',
      method: 'GET',
      path: '/project/keys',
      summary: 'List project keys',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('keys', KeyView) },
      errors: [],
    },
    async ({ deps, actor, query }) => {
      const { rows, next_cursor } = await listProjectKeys(deps, actor.projectId, query);
      return { keys: rows.map(viewKey), next_cursor };
    },
  ),
  route(
    {
      id: 'keys.create',
      method: 'POST',
      path: '/project/keys',
      summary: 'Create a project key',
      description: 'A project may have at most 10 active keys.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      idempotent: true,
      audit: 'api_key.create',
      body: Type.Object({ name: Type.Optional(Nullable(Name)) }),
      returns: { status: 201, body: Type.Object({ key: KeyView, api_key: ApiKey }) },
      errors: ['CONFLICT'],
    },
    async ({ deps, actor, body, audit }) => {
      const { key, plain } = await createProjectKey(deps, actor, body.name ?? null, audit);
      return { key: viewKey(key), api_key: plain };
    },
  ),
  route(
    {
      id: 'keys.revoke',
      method: 'DELETE',
      path: '/project/keys/:keyId',
      summary: 'Deactivate a project key',
      description:
        'The key, user tokens minted with it and space sessions opened with it are refused from the next request on.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'api_key.revoke',
      params: Type.Object({ keyId: Uuid }),
      returns: { status: 204 },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { keyId }, audit }) =>
      revokeProjectKey(deps, actor.projectId, keyId, audit),
  ),
];
