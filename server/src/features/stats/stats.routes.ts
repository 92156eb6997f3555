// Statistics over HTTP. Every read is audited.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { route } from '../../contract/route.ts';
import { Page } from '../../contract/wire.ts';
import {
  readDays,
  readDistribution,
  readInstallation,
  readOverview,
  readProjectStats,
  readStorage,
  readUserStats,
} from './stats.service.ts';
import {
  FileStats,
  InstallationStats,
  Overview,
  ProjectStatsPage,
  RequestStats,
  StorageStats,
  UserStats,
} from './stats.wire.ts';

const ofProject = { actors: ['project', 'integration'], scope: 'stats:read' } as const;
const ofUser = { actors: ['project', 'integration', 'user', 'space'], scope: 'stats:read' } as const;
const ofAll = { actors: ['admin'] } as const;

function record(deps: Deps, audit: AuditStamp, what: string, userId: string | null = null): void {
  deps.auditQueue.add(audit, { resourceType: 'stats', resourceId: what, userId });
}

export const statsRoutes = [
  route(
    {
      id: 'stats.overview',
      method: 'GET',
      path: '/project/stats/overview',
      summary: 'Traffic of today and of the last 30 days, and storage',
      description: 'Days are UTC days; the last 30 include today.',
      access: ofProject,
      rateLimit: 'integration',
      audit: 'stats.read',
      returns: { status: 200, body: Overview },
      errors: [],
    },
    async ({ deps, actor, audit }) => {
      const overview = await readOverview(deps, actor.projectId);
      record(deps, audit, 'overview');
      return overview;
    },
  ),
  route(
    {
      id: 'stats.files',
      method: 'GET',
      path: '/project/stats/files',
      summary: 'Files by MIME type and by classifier',
      access: ofProject,
      rateLimit: 'integration',
      audit: 'stats.read',
      returns: { status: 200, body: FileStats },
      errors: [],
    },
    async ({ deps, actor, audit }) => {
      const distribution = await readDistribution(deps, actor.projectId);
      record(deps, audit, 'files');
      return distribution;
    },
  ),
  route(
    {
      id: 'stats.storage',
      method: 'GET',
      path: '/project/stats/storage',
      summary: 'Users, files and bytes of the project',
      access: ofProject,
      rateLimit: 'integration',
      audit: 'stats.read',
      returns: { status: 200, body: StorageStats },
      errors: [],
    },
    async ({ deps, actor, audit }) => {
      const storage = await readStorage(deps, actor.projectId);
      record(deps, audit, 'storage');
      return storage;
    },
  ),
  route(
    {
      id: 'stats.requests',
      method: 'GET',
      path: '/project/stats/requests',
      summary: 'Traffic of the last 30 days, day by day',
      access: ofProject,
      rateLimit: 'integration',
      audit: 'stats.read',
      returns: { status: 200, body: RequestStats },
      errors: [],
    },
    async ({ deps, actor, audit }) => {
      const days = await readDays(deps, actor.projectId, actor.projectId);
      record(deps, audit, 'requests');
      return { days };
    },
  ),
  route(
    {
      id: 'stats.user',
      method: 'GET',
      path: '/project/users/:user/stats',
      summary: 'Storage of a user, and its traffic of the last 30 days',
      description:
        'The traffic of a user is every request that names the user or uses a token of the user or of its spaces. A space token gets the figures and the traffic of its own space.',
      access: ofUser,
      rateLimit: 'integration',
      audit: 'stats.read',
      returns: { status: 200, body: UserStats },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, audit }) => {
      const stats = await readUserStats(deps, actor, user);
      record(deps, audit, 'user', user.id);
      return stats;
    },
  ),
  route(
    {
      id: 'stats.installation',
      method: 'GET',
      path: '/admin/stats/global',
      summary: 'Traffic, storage and image jobs of the whole installation',
      description: 'Days are UTC days; the last 30 include today.',
      access: ofAll,
      rateLimit: null,
      audit: 'stats.read',
      returns: { status: 200, body: InstallationStats },
      errors: [],
    },
    async ({ deps, audit }) => {
      const stats = await readInstallation(deps);
      record(deps, audit, 'global');
      return stats;
    },
  ),
  route(
    {
      id: 'stats.projects',
      method: 'GET',
      path: '/admin/stats/projects',
      summary: 'Storage and traffic of each project',
      description: 'Newest projects first.',
      access: ofAll,
      rateLimit: null,
      audit: 'stats.read',
      query: Page(),
      returns: { status: 200, body: ProjectStatsPage },
      errors: [],
    },
    async ({ deps, query, audit }) => {
      const page = await readProjectStats(deps, query);
      record(deps, audit, 'projects');
      return page;
    },
  ),
];
