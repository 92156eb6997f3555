// Statements on integrations. Reads include the prefix and last use of the integration's key.

import type { Scope } from '../../contract/scope.ts';
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface IntegrationValues {
  readonly name: string | null;
  readonly scopes: Scope[];
  readonly cors_origins: string[];
  readonly dev_mode: boolean;
  readonly rate_limit_max: number | null;
  readonly rate_limit_window: number | null;
  readonly active: boolean;
}

export interface IntegrationRow extends IntegrationValues {
  readonly id: string;
  readonly key_prefix: string;
  readonly last_used_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const withKey = (integrations: Sql): Sql => sql`
  with found as (${integrations})
  select found.id, found.name, found.scopes, found.cors_origins, found.dev_mode, found.rate_limit_max,
    found.rate_limit_window, found.active, found.created_at, found.updated_at, k.key_prefix, k.last_used_at
  from found join api_keys k on k.integration_id = found.id and k.project_id = found.project_id
  order by found.created_at desc, found.id desc`;

export const listIntegrations = (projectId: string, after: Sql, page: PageRequest): Sql =>
  withKey(newestFirst(sql`select * from integrations where project_id = ${projectId}${after}`, page));

export const findIntegration = (projectId: string, integrationId: string): Sql =>
  withKey(sql`select * from integrations where project_id = ${projectId} and id = ${integrationId}`);

export const lockIntegration = (projectId: string, integrationId: string): Sql => sql`
  select id from integrations where project_id = ${projectId} and id = ${integrationId} for no key update`;

export const touchIntegration = (projectId: string, integrationId: string): Sql => sql`
  update integrations set updated_at = now() where project_id = ${projectId} and id = ${integrationId}`;

export const insertIntegration = (projectId: string, values: IntegrationValues): Sql => sql`
  insert into integrations (project_id, name, scopes, cors_origins, dev_mode, rate_limit_max, rate_limit_window)
  values (${projectId}, ${values.name}, ${values.scopes}, ${values.cors_origins}, ${values.dev_mode},
    ${values.rate_limit_max}, ${values.rate_limit_window}) returning id`;

export const updateIntegration = (
  projectId: string,
  integrationId: string,
  values: IntegrationValues,
): Sql => sql`
  update integrations set name = ${values.name}, scopes = ${values.scopes}, cors_origins = ${values.cors_origins},
    dev_mode = ${values.dev_mode}, rate_limit_max = ${values.rate_limit_max},
    rate_limit_window = ${values.rate_limit_window}, active = ${values.active}, updated_at = now()
  where project_id = ${projectId} and id = ${integrationId}`;

export const deleteIntegration = (projectId: string, integrationId: string): Sql => sql`
  delete from integrations where project_id = ${projectId} and id = ${integrationId} returning name, scopes`;
