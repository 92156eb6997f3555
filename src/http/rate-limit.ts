// The two limits on requests: of an integration, by its policy, and of attempts to log in, by client address.
import type { FastifyReply } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { tooMany } from '../contract/too-many.ts';
import type { RatePolicy } from '../features/credentials/credentials.service.ts';
import type { Policy, Verdict } from '../platform/limits/limiter.ts';

export const loginPolicy: Policy = { max: 10, windowMs: 15 * 60_000 };

export async function limitIntegration(deps: Deps, rate: RatePolicy, reply: FastifyReply): Promise<void> {
  enforce(deps, await deps.limiter.consume(`integration:${rate.bucket}`, rate), rate, reply);
}

export async function limitLogin(deps: Deps, address: string, reply: FastifyReply): Promise<void> {
  enforce(deps, await deps.limiter.consume(`login:${address}`, loginPolicy), loginPolicy, reply);
}

function enforce(deps: Deps, verdict: Verdict, policy: Policy, reply: FastifyReply): void {
  reply.header('x-ratelimit-limit', policy.max);
  reply.header('x-ratelimit-remaining', verdict.remaining);
  reply.header('x-ratelimit-reset', Math.ceil(verdict.resetAtMs / 1000));
  if (!verdict.allowed) throw tooMany(deps.clock(), verdict);
}
