// Integrations over HTTP.

import { route } from '../../contract/route.ts';
import { ApiKey, Listing, Page, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import {
  changeIntegration,
  createIntegration,
  listProjectIntegrations,
  readIntegration,
  removeIntegration,
  rotateIntegrationKey,
} from './integrations.service.ts';
import {
  IntegrationChange,
  IntegrationInput,
  IntegrationView,
  viewIntegration,
} from './integrations.wire.ts';

const params = Type.Object({ id: Uuid });
const oneIntegration = Type.Object({ integration: IntegrationView });
const integrationWithKey = Type.Object({ integration: IntegrationView, api_key: ApiKey });

export const integrationRoutes = [
  route(
    {
      id: 'integrations.list',
      method: 'GET',
      path: '/project/integrations',
      summary: 'List integrations',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('integrations', IntegrationView) },
      errors: [],
    },
    async ({ deps, actor, query }) => {
      const { rows, next_cursor } = await listProjectIntegrations(deps, actor.projectId, query);
      return { integrations: rows.map(viewIntegration), next_cursor };
    },
  ),
  route(
    {
      id: 'integrations.create',
      method: 'POST',
      path: '/project/integrations',
      summary: 'Create an integration',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      idempotent: true,
      audit: 'integration.create',
      body: IntegrationInput,
      returns: { status: 201, body: integrationWithKey },
      errors: [],
    },
    async ({ deps, actor, body, audit }) => {
      const { integration, plain } = await createIntegration(deps, actor, body, audit);
      return { integration: viewIntegration(integration), api_key: plain };
    },
  ),
  route(
    {
      id: 'integrations.read',
      method: 'GET',
      path: '/project/integrations/:id',
      summary: 'Read an integration',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: null,
      params,
      returns: { status: 200, body: oneIntegration },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { id } }) => ({
      integration: viewIntegration(await readIntegration(deps.db, actor.projectId, id)),
    }),
  ),
  route(
    {
      id: 'integrations.update',
      method: 'PUT',
      path: '/project/integrations/:id',
      summary: 'Change an integration',
      description:
        'Changes only the given fields. Removing a scope also removes it from tokens that the integration minted.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'integration.update',
      params,
      body: IntegrationChange,
      returns: { status: 200, body: oneIntegration },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { id }, body, audit }) => ({
      integration: viewIntegration(await changeIntegration(deps, actor.projectId, id, body, audit)),
    }),
  ),
  route(
    {
      id: 'integrations.delete',
      method: 'DELETE',
      path: '/project/integrations/:id',
      summary: 'Delete an integration',
      description: 'Its key and all tokens it minted are refused from the next request on.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'integration.revoke',
      params,
      returns: { status: 204 },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { id }, audit }) => removeIntegration(deps, actor.projectId, id, audit),
  ),
  route(
    {
      id: 'integrations.rotateKey',
      method: 'POST',
      path: '/project/integrations/:id/rotate-key',
      summary: 'Replace the key of an integration',
      description:
        'The old key, user tokens minted with it and space sessions opened with it are refused from the next request on.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      idempotent: true,
      audit: 'integration.update',
      params,
      returns: { status: 200, body: integrationWithKey },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { id }, audit }) => {
      const { integration, plain } = await rotateIntegrationKey(deps, actor, id, audit);
      return { integration: viewIntegration(integration), api_key: plain };
    },
  ),
];
