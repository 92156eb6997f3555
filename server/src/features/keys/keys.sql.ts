// Statements on API keys. Project keys have no integration; an integration has exactly one key.

import type { NewApiKey } from '../../kernel/crypto/secret.ts';
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface KeyRow {
  readonly id: string;
  readonly name: string | null;
  readonly key_prefix: string;
  readonly active: boolean;
  readonly last_used_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = sql`id, name, key_prefix, active, last_used_at, created_at, updated_at`;

export const countActiveKeys = (projectId: string): Sql => sql`
  select count(*)::int as active from api_keys
  where project_id = ${projectId} and integration_id is null and active`;

export const listKeys = (projectId: string, after: Sql, page: PageRequest): Sql =>
  newestFirst(
    sql`select ${columns} from api_keys where project_id = ${projectId} and integration_id is null${after}`,
    page,
  );

export const insertKey = (
  projectId: string,
  integrationId: string | null,
  name: string | null,
  key: NewApiKey,
): Sql => sql`
  insert into api_keys (project_id, integration_id, name, key_hash, key_prefix)
  values (${projectId}, ${integrationId}, ${name}, ${key.hash}, ${key.prefix}) returning ${columns}`;

export const findKey = (projectId: string, keyId: string): Sql => sql`
  select ${columns} from api_keys where project_id = ${projectId} and id = ${keyId} and integration_id is null`;

export const markKeyInactive = (projectId: string, keyId: string): Sql => sql`
  update api_keys set active = false, updated_at = now()
  where project_id = ${projectId} and id = ${keyId} and integration_id is null and active returning ${columns}`;

export const markAllKeysInactive = (projectId: string): Sql => sql`
  update api_keys set active = false, updated_at = now()
  where project_id = ${projectId} and integration_id is null and active returning id`;

export const deleteIntegrationKey = (projectId: string, integrationId: string): Sql => sql`
  delete from api_keys where project_id = ${projectId} and integration_id = ${integrationId} returning id`;
