// The two limits on requests: of an integration, by its policy, and of attempts to log in, by client address.
import type { FastifyReply } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { rateHeadersOf, tooMany } from '../contract/too-many.ts';
import type { RatePolicy } from '../features/credentials/credentials.service.ts';
import type { Policy, Verdict } from '../platform/limits/limiter.ts';

export const loginPolicy: Policy = { max: 10, windowMs: 15 * 60_000 };

export async function limitIntegration(deps: Deps, rate: RatePolicy, reply: FastifyReply): Promise<void> {
  // By the window as well: one that was set anew begins at once, however long the old one would have lasted.
  const bucket = `integration:${rate.bucket}:${rate.windowMs}`;
  enforce(deps, await deps.limiter.consume(bucket, rate), rate, reply);
}

export async function limitLogin(deps: Deps, address: string, reply: FastifyReply): Promise<void> {
  enforce(deps, await deps.limiter.consume(`login:${address}`, loginPolicy), loginPolicy, reply);
}

function enforce(deps: Deps, verdict: Verdict, policy: Policy, reply: FastifyReply): void {
  if (!verdict.allowed) throw tooMany(deps.clock(), policy, verdict);
  reply.headers(rateHeadersOf(policy, verdict));
}
