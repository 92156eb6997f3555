// The limits on requests: of an integration, by its policy, and of attempts to log in, by client address and by socket.
import type { FastifyReply } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import type { RatePolicy } from '../features/credentials/credentials.service.ts';
import type { Device } from '../kernel/crypto/device-cookie.ts';
import { countUse, toRateHeaders } from '../platform/limits/count-use.ts';
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

/** Far more than honest people behind one proxy need, far less than a flood of guesses. */
const socketPolicy: Policy = { max: 1_000, windowMs: 15 * 60_000 };

/** For where client addresses can be forged: a bound on the network that the connection itself comes from. */
export async function limitSocket(deps: Deps, network: string): Promise<void> {
  await countUse(deps, `login-socket:${network}`, socketPolicy, 'Too many logins from this address');
}

const devicePolicy: Policy = { max: 100, windowMs: 15 * 60_000 };

/**
 * All browsers together that have logged in to one account: somebody who could once may have kept many cookies, each
 * with failures of its own. It takes the place of the socket's bound, or a flood through the same proxy would lock out
 * the owner.
 */
export async function limitDevices(deps: Deps, { accountId, generation }: Device): Promise<void> {
  const bucket = `login-device:${accountId}:${generation}`;
  await countUse(deps, bucket, devicePolicy, 'Too many logins to this account');
}

async function enforce(deps: Deps, bucket: string, policy: Policy, reply: FastifyReply): Promise<void> {
  reply.headers(toRateHeaders(policy, await countUse(deps, bucket, policy)));
}
