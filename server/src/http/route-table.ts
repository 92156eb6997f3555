// All routes. A route with `:user` has two paths.

import type { Route } from '../contract/route.ts';
import { passwordRoutes } from '../features/accounts/accounts.password.routes.ts';
import { accountRoutes } from '../features/accounts/accounts.routes.ts';
import { twoFactorRoutes } from '../features/accounts/accounts.two-factor.routes.ts';
import { auditRoutes } from '../features/audit/audit.routes.ts';
import { batchRoutes } from '../features/batch/batch.routes.ts';
import { contentRoutes } from '../features/content/content.routes.ts';
import { copyRoutes } from '../features/copies/copies.routes.ts';
import { eventRoutes } from '../features/events/events.routes.ts';
import { fileRoutes } from '../features/files/files.routes.ts';
import { folderRoutes } from '../features/folders/folders.routes.ts';
import { healthRoutes } from '../features/health/health.routes.ts';
import { imageRoutes } from '../features/images/images.routes.ts';
import { integrationRoutes } from '../features/integrations/integrations.routes.ts';
import { keyRoutes } from '../features/keys/keys.routes.ts';
import { planRoutes } from '../features/plans/plans.routes.ts';
import { projectRoutes } from '../features/projects/projects.routes.ts';
import { settingsRoutes } from '../features/settings/settings.routes.ts';
import { shareRoutes } from '../features/shares/shares.routes.ts';
import { spaceRoutes } from '../features/spaces/spaces.routes.ts';
import { statsRoutes } from '../features/stats/stats.routes.ts';
import { tokenRoutes } from '../features/tokens/tokens.routes.ts';
import { trashRoutes } from '../features/trash/trash.routes.ts';
import { uploadRoutes } from '../features/uploads/uploads.routes.ts';
import { uploadUrlRoutes } from '../features/uploads/uploads.url.routes.ts';
import { usageRoutes } from '../features/usage/usage.routes.ts';
import { userRoutes } from '../features/users/users.routes.ts';
import { variantRoutes } from '../features/variants/variants.routes.ts';
import { webhookRoutes } from '../features/webhooks/webhooks.routes.ts';
import { zipRoutes } from '../features/zip/zip.routes.ts';

export const apiPrefix = '/api/v1';

export const routes: readonly Route[] = [
  ...healthRoutes,
  ...accountRoutes,
  ...passwordRoutes,
  ...twoFactorRoutes,
  ...projectRoutes,
  ...settingsRoutes,
  ...auditRoutes,
  ...keyRoutes,
  ...integrationRoutes,
  ...planRoutes,
  ...userRoutes,
  ...tokenRoutes,
  ...spaceRoutes,
  ...fileRoutes,
  ...batchRoutes,
  ...folderRoutes,
  ...copyRoutes,
  ...trashRoutes,
  ...contentRoutes,
  ...shareRoutes,
  ...zipRoutes,
  ...uploadRoutes,
  ...uploadUrlRoutes,
  ...imageRoutes,
  ...variantRoutes,
  ...eventRoutes,
  ...statsRoutes,
  ...usageRoutes,
  ...webhookRoutes,
];

export type SubjectBy = 'userId' | 'externalId' | null;

export interface Endpoint {
  readonly route: Route;
  /** Without the prefix; parameters as `:name`. */
  readonly path: string;
  readonly operationId: string;
  readonly subjectBy: SubjectBy;
}

/** The paths of a route: one, or both for `:user`. */
export function toEndpoints(route: Route): readonly Endpoint[] {
  const { path, id } = route;
  if (!/\/:user(\/|$)/.test(path)) return [{ route, path, operationId: id, subjectBy: null }];
  return [
    { route, path: path.replace('/:user', '/:userId'), operationId: id, subjectBy: 'userId' },
    {
      route,
      path: path.replace('/:user', '/ext/:externalId'),
      operationId: `${id}.ext`,
      subjectBy: 'externalId',
    },
  ];
}

export const endpoints: readonly Endpoint[] = routes.flatMap(toEndpoints);
