// Limits on the requests of an integration, and on logins by client address, socket and device.
import type { FastifyReply } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import type { RatePolicy } from '../features/credentials/credentials.service.ts';
import type { Device } from '../kernel/crypto/device-cookie.ts';
import { countUse, toRateHeaders } from '../platform/limits/count-use.ts';
import type { Policy } from '../platform/limits/limiter.ts';

export const loginPolicy: Policy = { max: 10, windowMs: 15 * 60_000 };

export async function limitIntegration(deps: Deps, rate: RatePolicy, reply: FastifyReply): Promise<void> {
  // The window is part of the bucket, so that a changed window takes effect at once.
  const bucket = `integration:${rate.bucket}:${rate.windowMs}`;
  await enforce(deps, bucket, rate, reply);
}

export async function limitLogin(deps: Deps, address: string, reply: FastifyReply): Promise<void> {
  await enforce(deps, `login:${address}`, loginPolicy, reply);
}

/** Far more than people behind one proxy need, far less than a brute-force attack. */
const socketPolicy: Policy = { max: 1_000, windowMs: 15 * 60_000 };

/** Client addresses can be forged if no proxy is trusted, so the network of the socket is limited as well. */
export async function limitSocket(deps: Deps, network: string): Promise<void> {
  await countUse(deps, `login-socket:${network}`, socketPolicy, 'Too many logins from this address');
}

/** Enough for a household that plays a video by ranges. */
const sharePolicy: Policy = { max: 600, windowMs: 60_000 };
/** Of all who come from one network, because addresses can be forged where no proxy is trusted. */
const shareNetworkPolicy: Policy = { max: 12_000, windowMs: 60_000 };

/** Opening links needs no credential. */
export async function limitShares(deps: Deps, address: string, network: string): Promise<void> {
  await countUse(deps, `share:${address}`, sharePolicy, 'Too many requests from this address');
  await countUse(deps, `share-network:${network}`, shareNetworkPolicy, 'Too many requests from this network');
}

const devicePolicy: Policy = { max: 100, windowMs: 15 * 60_000 };

/**
 * All known devices of an account together: an attacker who once had access may have collected many cookies. Known
 * devices are exempt from the limit on the socket, or a flood through the same proxy would lock out the owner.
 */
export async function limitDevices(deps: Deps, { accountId, generation }: Device): Promise<void> {
  const bucket = `login-device:${accountId}:${generation}`;
  await countUse(deps, bucket, devicePolicy, 'Too many logins to this account');
}

async function enforce(deps: Deps, bucket: string, policy: Policy, reply: FastifyReply): Promise<void> {
  const verdict = await countUse(deps, bucket, policy);
  reply.headers(toRateHeaders(deps.clock(), policy, verdict));
}
