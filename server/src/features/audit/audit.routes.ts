// The audit log over HTTP: all rows for the admin, a project's own rows for the project.

import { auditActions } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { route } from '../../contract/route.ts';
import {
  Choice,
  DateOrTime,
  Listing,
  Named,
  Nullable,
  pageQuery,
  Timestamp,
  Uuid,
} from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import { toEndUtc, toUtc } from '../../kernel/text/timestamp.ts';
import { toPage } from '../../platform/db/paging.ts';
import { search } from '../../platform/db/project-work.ts';
import { type AuditFilter, type AuditRow, listAudit } from './audit.sql.ts';

const ActorType = Choice(['admin', 'project', 'integration'], { 'x-name': 'ActorType' });
const filterFields = {
  action: Type.Optional(Choice(auditActions, { 'x-name': 'AuditAction' })),
  user_id: Type.Optional(Uuid),
  actor_type: Type.Optional(ActorType),
  from: Type.Optional(DateOrTime('Rows at or after this time; a date means the start of that day.')),
  to: Type.Optional(DateOrTime('Rows at or before this time; a date means the end of that day.')),
  ...pageQuery(50),
};

const ProjectQuery = Type.Object(filterFields);
const AdminQuery = Type.Object({ project_id: Type.Optional(Uuid), ...filterFields });

const NullableText = (example: string) => Nullable(Type.String({ examples: [example] }));

const AuditEntry = Named('AuditEntry', {
  id: Uuid,
  project_id: Nullable(Uuid),
  actor_type: ActorType,
  actor_id: Nullable(Uuid),
  actor_key_id: NullableText('6f9619ff-8b86-4d01-b42d-00cf4fc964ff'),
  user_id: Nullable(Uuid),
  action: Type.String({ examples: ['user.create'] }),
  resource_type: NullableText('user'),
  resource_id: NullableText('6f9619ff-8b86-4d01-b42d-00cf4fc964ff'),
  ip_address: NullableText('192.0.2.7'),
  user_agent: NullableText('curl/8.5.0'),
  metadata: Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'Old and new values on mutations.',
      examples: [{ new: { active: true } }],
    },
  ),
  created_at: Timestamp,
});

const Logs = Listing('logs', AuditEntry);

async function readLogs(
  deps: Deps,
  list: string,
  projectId: string | null,
  query: Static<typeof ProjectQuery>,
) {
  await deps.auditQueue.flush();
  const filter: AuditFilter = {
    projectId,
    action: query.action,
    userId: query.user_id,
    actorType: query.actor_type,
    from: query.from && toUtc(query.from),
    to: query.to && toEndUtc(query.to),
  };
  const after = query.cursor === undefined ? null : deps.cursors.decode(list, query.cursor);
  const statement = listAudit(filter, after, query);
  const rows = await search<AuditRow>(deps, projectId ?? 'all', statement);
  const { rows: kept, next_cursor } = toPage(deps, list, rows, query.limit);
  return { logs: [...kept], next_cursor };
}

export const auditRoutes = [
  route(
    {
      id: 'audit.listAll',
      method: 'GET',
      path: '/admin/audit',
      summary: 'Read the audit log',
      description: 'Newest first. The read itself is recorded.',
      access: { actors: ['admin'] },
      rateLimit: null,
      audit: 'audit.read',
      query: AdminQuery,
      returns: { status: 200, body: Logs },
      errors: [],
    },
    async ({ deps, query, audit }) => {
      const page = await readLogs(deps, 'audit', query.project_id ?? null, query);
      deps.auditQueue.add(audit, {
        resourceType: 'audit',
        metadata: { project_id: query.project_id ?? null },
      });
      return page;
    },
  ),
  route(
    {
      id: 'audit.listOwn',
      method: 'GET',
      path: '/project/audit',
      summary: "Read the project's own audit log",
      description: 'Newest first. The read itself is recorded.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'audit.read',
      query: ProjectQuery,
      returns: { status: 200, body: Logs },
      errors: [],
    },
    async ({ deps, actor, query, audit }) => {
      const page = await readLogs(deps, `audit:${actor.projectId}`, actor.projectId, query);
      deps.auditQueue.add(audit, { resourceType: 'audit' });
      return page;
    },
  ),
];
