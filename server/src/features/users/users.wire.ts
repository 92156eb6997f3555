// HTTP shapes of end-users and of their storage.

import type { PlanFacts, Subject } from '../../contract/subject.ts';
import { Bytes, ExternalId, Named, Nullable, resourceFields } from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import { PlanView, viewPlan } from '../plans/plans.wire.ts';

const snapshotFields = {
  storageUsed: Bytes('Bytes stored now.'),
  storageReserved: Bytes('Bytes reserved for unfinished uploads.'),
  storageLimit: Nullable(Bytes('Limit of the plan; null for unlimited.')),
  storageAvailable: Nullable(Bytes('Bytes left after those used and reserved; null for unlimited.')),
  usagePercent: Type.Number({
    minimum: 0,
    description: 'Used percentage of the limit; 0 for unlimited.',
    examples: [12.5],
  }),
  overQuota: Type.Boolean({
    description: 'True if more is stored than the plan allows, for example after a change of plan.',
    examples: [false],
  }),
};

export const StorageSnapshot = Named('StorageSnapshot', snapshotFields);

export const UserView = Named('User', {
  ...resourceFields,
  external_id: ExternalId,
  active: Type.Boolean({ examples: [true] }),
  plan: Nullable(PlanView),
  ...snapshotFields,
});

export function buildSnapshot({
  usedBytes,
  reservedBytes,
  plan,
}: {
  readonly usedBytes: number;
  readonly reservedBytes: number;
  readonly plan: Pick<PlanFacts, 'storageLimit'> | null;
}): Static<typeof StorageSnapshot> {
  const limit = plan?.storageLimit ?? null;
  return {
    storageUsed: usedBytes,
    storageReserved: reservedBytes,
    storageLimit: limit,
    storageAvailable: limit === null ? null : Math.max(0, limit - usedBytes - reservedBytes),
    usagePercent: usagePercent(usedBytes, limit),
    overQuota: limit !== null && usedBytes > limit,
  };
}

/** Two decimals. With a limit of 0, any usage is 100 %. */
function usagePercent(usedBytes: number, limit: number | null): number {
  if (limit === null || usedBytes === 0) return 0;
  return limit === 0 ? 100 : Math.round((usedBytes / limit) * 10_000) / 100;
}

export function viewUser(user: Subject): Static<typeof UserView> {
  const snapshot = buildSnapshot(user);
  return {
    id: user.id,
    external_id: user.externalId,
    active: user.active,
    plan: user.plan && viewPlan(user.plan),
    storageUsed: snapshot.storageUsed,
    storageReserved: snapshot.storageReserved,
    storageLimit: snapshot.storageLimit,
    storageAvailable: snapshot.storageAvailable,
    usagePercent: snapshot.usagePercent,
    overQuota: snapshot.overQuota,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
  };
}
