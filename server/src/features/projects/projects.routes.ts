// Projects over HTTP, for the admin.

import { route } from '../../contract/route.ts';
import {
  ApiKey,
  Email,
  Listing,
  Name,
  Named,
  Nullable,
  Page,
  Password,
  RateLimitMax,
  RateLimitWindow,
  resourceFields,
  Uuid,
} from '../../contract/wire.ts';
import { invalid } from '../../kernel/error.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import {
  changeProject,
  createProject,
  listAllProjects,
  readProject,
  removeProject,
  rotateProjectKeys,
  setProjectActive,
} from './projects.service.ts';
import type { ProjectRow } from './projects.sql.ts';

const ProjectView = Named('Project', {
  ...resourceFields,
  name: Name,
  email: Email,
  active: Type.Boolean({ examples: [true] }),
  rateLimitMax: Nullable(RateLimitMax),
  rateLimitWindow: Nullable(RateLimitWindow),
});

const viewProject = (row: ProjectRow): Static<typeof ProjectView> => ({
  id: row.id,
  name: row.name,
  email: row.email,
  active: row.active,
  rateLimitMax: row.rate_limit_max,
  rateLimitWindow: row.rate_limit_window,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

const params = Type.Object({ projectId: Uuid });
const oneProject = Type.Object({ project: ProjectView });
const projectWithKey = Type.Object({ project: ProjectView, api_key: ApiKey });
const access = { actors: ['admin'] } as const;

const changeable = ['name', 'email', 'rateLimitMax', 'rateLimitWindow'] as const;

export const projectRoutes = [
  route(
    {
      id: 'projects.list',
      method: 'GET',
      path: '/admin/projects',
      summary: 'List projects',
      access,
      rateLimit: null,
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('projects', ProjectView) },
      errors: [],
    },
    async ({ deps, query }) => {
      const { rows, next_cursor } = await listAllProjects(deps, query);
      return { projects: rows.map(viewProject), next_cursor };
    },
  ),
  route(
    {
      id: 'projects.create',
      method: 'POST',
      path: '/admin/projects',
      summary: 'Create a project with its account and first key',
      access,
      rateLimit: null,
      idempotent: true,
      audit: 'project.create',
      body: Type.Object({ name: Name, email: Email, password: Password(8) }),
      returns: { status: 201, body: projectWithKey },
      errors: ['CONFLICT'],
    },
    async ({ deps, body, audit }) => {
      const { project, plain } = await createProject(deps, body, audit);
      return { project: viewProject(project), api_key: plain };
    },
  ),
  route(
    {
      id: 'projects.read',
      method: 'GET',
      path: '/admin/projects/:projectId',
      summary: 'Read a project',
      access,
      rateLimit: null,
      audit: null,
      params,
      returns: { status: 200, body: oneProject },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, params: { projectId } }) => ({
      project: viewProject(await readProject(deps.db, projectId)),
    }),
  ),
  route(
    {
      id: 'projects.update',
      method: 'PATCH',
      path: '/admin/projects/:projectId',
      summary: 'Change name, e-mail or rate tier of a project',
      access,
      rateLimit: null,
      audit: 'project.update',
      params,
      body: Type.Partial(
        Type.Object({
          name: Name,
          email: { ...Email, examples: ['office@example.com'] },
          rateLimitMax: Nullable(RateLimitMax),
          rateLimitWindow: Nullable(RateLimitWindow),
        }),
        { 'x-shown': { anyOf: changeable.map((field) => ({ required: [field] })) } },
      ),
      returns: { status: 200, body: oneProject },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    async ({ deps, params: { projectId }, body, audit }) => {
      if (changeable.every((field) => body[field] === undefined)) {
        throw invalid(422, [
          { path: 'body', message: `must have at least one of ${changeable.join(', ')}`, code: 'required' },
        ]);
      }
      return { project: viewProject(await changeProject(deps, projectId, body, audit)) };
    },
  ),
  route(
    {
      id: 'projects.setStatus',
      method: 'PATCH',
      path: '/admin/projects/:projectId/status',
      summary: 'Activate or deactivate a project',
      description: 'Keys, sessions and tokens of an inactive project get 403.',
      access,
      rateLimit: null,
      audit: 'project.update',
      params,
      body: Type.Object({ active: Type.Boolean({ examples: [false] }) }),
      returns: { status: 200, body: oneProject },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, params: { projectId }, body, audit }) => ({
      project: viewProject(await setProjectActive(deps, projectId, body.active, audit)),
    }),
  ),
  route(
    {
      id: 'projects.rotateKey',
      method: 'POST',
      path: '/admin/projects/:projectId/rotate-key',
      summary: 'Replace all keys of a project with one new key',
      description:
        'The old keys, user tokens minted with them and space sessions opened with them are refused from the next request on. Integrations keep their keys.',
      access,
      rateLimit: null,
      idempotent: true,
      audit: 'api_key.create',
      params,
      returns: { status: 200, body: projectWithKey },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, params: { projectId }, audit }) => {
      const { project, plain } = await rotateProjectKeys(deps, projectId, audit);
      return { project: viewProject(project), api_key: plain };
    },
  ),
  route(
    {
      id: 'projects.delete',
      method: 'DELETE',
      path: '/admin/projects/:projectId',
      summary: 'Delete a project with everything in it',
      description: 'Its audit rows are kept, with a null project_id.',
      access,
      rateLimit: null,
      audit: 'project.delete',
      params,
      returns: { status: 204 },
      errors: ['NOT_FOUND', 'LOCKED'],
    },
    async ({ deps, params: { projectId }, audit }) => removeProject(deps, projectId, audit),
  ),
];
