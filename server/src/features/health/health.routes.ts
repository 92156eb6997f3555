// Health: the status code for load balancers, the body for people.

import { route } from '../../contract/route.ts';
import { Choice } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';

const Check = Choice(['ok', 'unavailable', 'not configured']);

const Health = Type.Object({
  status: Choice(['ok', 'degraded']),
  checks: Type.Object({ database: Check, storage: Check, redis: Check }),
  version: Type.String({ examples: ['1.0.0'] }),
});

const Degraded = Type.Object(Health.properties, {
  examples: [
    {
      status: 'degraded',
      checks: { database: 'unavailable', storage: 'ok', redis: 'not configured' },
      version: '1.0.0',
    },
  ],
});

export const healthRoutes = [
  route(
    {
      id: 'health.read',
      method: 'GET',
      path: '/health',
      summary: 'Health of the service',
      description:
        'Only the database decides between 200 and 503: it must answer a read and a write. The other checks are informative; Redis is checked with a write.',
      access: { public: true, why: 'load balancers ask it' },
      rateLimit: null,
      audit: null,
      returns: { status: 200, body: Health },
      also: { 503: { description: 'The database does not answer or is read-only', body: Degraded } },
      errors: [],
    },
    async ({ deps, call }) => {
      const [database, storage, redis] = await Promise.all([
        deps.health.database(),
        deps.health.storage(),
        deps.health.redis(),
      ]);
      const status = database === 'ok' ? ('ok' as const) : ('degraded' as const);
      if (status === 'degraded') call.setStatus(503);
      return { status, checks: { database, storage, redis }, version: deps.version };
    },
  ),
];
