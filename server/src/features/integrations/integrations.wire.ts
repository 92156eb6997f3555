// HTTP shapes of integrations.

import { ScopeList } from '../../contract/scope.ts';
import { isOrigin } from '../../contract/settings.ts';
import {
  Name,
  Named,
  Nullable,
  RateLimitMax,
  RateLimitWindow,
  resourceFields,
  Timestamp,
} from '../../contract/wire.ts';
import { invalid } from '../../kernel/error.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import type { IntegrationRow } from './integrations.sql.ts';

const Origin = Type.String({
  maxLength: 255,
  'x-shown': { pattern: '^[a-z][a-z0-9+.-]*://[^/?#@ ]+$' },
  examples: ['https://app.example.com'],
});
const CorsOrigins = Type.Array(Origin, {
  maxItems: 100,
  description:
    'Allowed origins: scheme, host and port, exactly as a browser sends them. Pages from these origins may read responses to calls with user tokens that the integration minted and space sessions that it opened; for other pages such responses have no CORS headers, but the calls are not refused. A call with the integration key itself and any other `Origin` gets 403. Preflights carry no credential and are allowed for every origin. A change takes effect with the next request, also for existing tokens.',
  examples: [['https://app.example.com']],
});

export const IntegrationView = Named('Integration', {
  ...resourceFields,
  name: Nullable(Name),
  scopes: ScopeList,
  corsOrigins: CorsOrigins,
  devMode: Type.Boolean({
    description: 'For development: no rate limit, and all origins are allowed.',
    examples: [false],
  }),
  rateLimitMax: Nullable(RateLimitMax),
  rateLimitWindow: Nullable(RateLimitWindow),
  active: Type.Boolean({ examples: [true] }),
  key_prefix: Type.String({ examples: ['pak_01234567'] }),
  last_used_at: Nullable(Timestamp),
});

export const IntegrationInput = Named('NewIntegration', {
  name: Type.Optional(Nullable(Name)),
  scopes: Type.Optional(ScopeList),
  corsOrigins: Type.Optional(CorsOrigins),
  devMode: Type.Optional(Type.Boolean({ examples: [false] })),
  rateLimitMax: Type.Optional(Nullable(RateLimitMax)),
  rateLimitWindow: Type.Optional(Nullable(RateLimitWindow)),
});

export const IntegrationChange = Named('IntegrationChange', {
  ...IntegrationInput.properties,
  active: Type.Optional(
    Type.Boolean({
      description: 'If false, its key and the tokens it minted are refused.',
      examples: [true],
    }),
  ),
});

export type IntegrationChangeInput = Static<typeof IntegrationChange>;

/** JSON Schema cannot express what an origin is. */
export function refuseBadOrigins(origins: readonly string[] | undefined): void {
  const at = (origins ?? []).findIndex((origin) => !isOrigin(origin));
  if (at < 0) return;
  const message =
    'must be an origin as browsers send it, such as https://app.example.com: lower case, without path, default port or wildcard (devMode allows every origin)';
  throw invalid(422, [{ path: `corsOrigins.${at}`, message, code: 'origin' }]);
}

export const viewIntegration = (row: IntegrationRow): Static<typeof IntegrationView> => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes,
  corsOrigins: row.cors_origins,
  devMode: row.dev_mode,
  rateLimitMax: row.rate_limit_max,
  rateLimitWindow: row.rate_limit_window,
  active: row.active,
  key_prefix: row.key_prefix,
  last_used_at: row.last_used_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
