// Settings of the installation, over HTTP.

import { route } from '../../contract/route.ts';
import { Named, RateLimitMax, RateLimitWindow } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { readRetention } from '../audit/audit.service.ts';
import { readRate, writeRate, writeRetention } from './settings.service.ts';

const access = { actors: ['admin'] } as const;
const Retention = Named('AuditRetention', {
  retention_days: Type.Integer({
    minimum: 1,
    maximum: 3650,
    description: 'A daily job purges audit rows older than this.',
    examples: [365],
  }),
});
const Rate = Named('RateLimit', { max: RateLimitMax, window_ms: RateLimitWindow });

export const settingsRoutes = [
  route(
    {
      id: 'settings.readAuditRetention',
      method: 'GET',
      path: '/admin/settings/audit-retention',
      summary: 'Read the audit retention',
      access,
      rateLimit: null,
      audit: null,
      returns: { status: 200, body: Retention },
      errors: [],
    },
    async ({ deps }) => readRetention(deps.db),
  ),
  route(
    {
      id: 'settings.writeAuditRetention',
      method: 'PUT',
      path: '/admin/settings/audit-retention',
      summary: 'Set the audit retention',
      access,
      rateLimit: null,
      audit: 'settings.update',
      body: Retention,
      returns: { status: 200, body: Retention },
      errors: [],
    },
    async ({ deps, body, audit }) => writeRetention(deps, body, audit),
  ),
  route(
    {
      id: 'settings.readRateLimit',
      method: 'GET',
      path: '/admin/settings/rate-limit',
      summary: 'Read the default rate limit of integrations',
      access,
      rateLimit: null,
      audit: null,
      returns: { status: 200, body: Rate },
      errors: [],
    },
    async ({ deps }) => readRate(deps),
  ),
  route(
    {
      id: 'settings.writeRateLimit',
      method: 'PUT',
      path: '/admin/settings/rate-limit',
      summary: 'Set the default rate limit of integrations',
      access,
      rateLimit: null,
      audit: 'settings.update',
      body: Rate,
      returns: { status: 200, body: Rate },
      errors: [],
    },
    async ({ deps, body, audit }) => writeRate(deps, body, audit),
  ),
];
