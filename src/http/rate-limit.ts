// The two limits on requests: of an integration, by its policy, and of attempts to log in, by client address.
import type { FastifyReply } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { countUse, rateHeadersOf } from '../contract/too-many.ts';
import type { RatePolicy } from '../features/credentials/credentials.service.ts';
import type { Policy } from '../platform/limits/limiter.ts';

export const loginPolicy: Policy = { max: 10, windowMs: 15 * 60_000 };

export async function limitIntegration(deps: Deps, rate: RatePolicy, reply: FastifyReply): Promise<void> {
  // By the window as well: one that was set anew begins at once, however long the old one would have lasted.
  const bucket = `integration:${rate.bucket}:${rate.windowMs}`;
  await enforce(deps, bucket, rate, reply);
}

export async function limitLogin(deps: Deps, address: string, reply: FastifyReply): Promise<void> {
  await enforce(deps, `login:${address}`, loginPolicy, reply);
}

async function enforce(deps: Deps, bucket: string, policy: Policy, reply: FastifyReply): Promise<void> {
  reply.headers(rateHeadersOf(policy, await countUse(deps, bucket, policy)));
}
