// End-users as HTTP shows them, with what they may still store.
import { type Static, Type } from 'typebox';
import type { PlanFacts, Subject } from '../../contract/subject.ts';
import { Bytes, ExternalId, Named, Nullable, resourceFields } from '../../contract/wire.ts';
import { PlanView, viewPlan } from '../plans/plans.wire.ts';

const snapshotFields = {
  storageUsed: Bytes('What the user stores now.'),
  storageLimit: Nullable(Bytes('What the plan allows; null without a limit.')),
  storageAvailable: Nullable(Bytes('What still fits; null without a limit.')),
  usagePercent: Type.Number({
    minimum: 0,
    description: 'Used share of the limit; 0 without a limit.',
    examples: [12.5],
  }),
  overQuota: Type.Boolean({
    description: 'More is stored than the plan allows, as after a change of plan.',
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

export function snapshotOf({
  usedBytes,
  plan,
}: {
  readonly usedBytes: number;
  readonly plan: Pick<PlanFacts, 'storageLimit'> | null;
}): Static<typeof StorageSnapshot> {
  const limit = plan?.storageLimit ?? null;
  return {
    storageUsed: usedBytes,
    storageLimit: limit,
    storageAvailable: limit === null ? null : Math.max(0, limit - usedBytes),
    usagePercent: usagePercent(usedBytes, limit),
    overQuota: limit !== null && usedBytes > limit,
  };
}

/** Two decimals. Of a limit of nothing, anything is all of it. */
function usagePercent(usedBytes: number, limit: number | null): number {
  if (limit === null || usedBytes === 0) return 0;
  return limit === 0 ? 100 : Math.round((usedBytes / limit) * 10_000) / 100;
}

export function viewUser(user: Subject): Static<typeof UserView> {
  const snapshot = snapshotOf(user);
  return {
    id: user.id,
    external_id: user.externalId,
    active: user.active,
    plan: user.plan && viewPlan(user.plan),
    storageUsed: snapshot.storageUsed,
    storageLimit: snapshot.storageLimit,
    storageAvailable: snapshot.storageAvailable,
    usagePercent: snapshot.usagePercent,
    overQuota: snapshot.overQuota,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
  };
}
