// Background work for webhooks: delivery, re-encryption of secrets with a new key, and dropping what is kept no longer.
import type { Deps } from '../../contract/deps.ts';
import { continuous, periodic } from '../../contract/job.ts';
import { sealAgain } from './webhooks.secrets.ts';
import { deleteExpiredSecrets, listSealedOtherwise, type SecretRow, updateSealed } from './webhooks.sql.ts';
import { listOldSlots, type SlotRow, truncateSlot } from './webhooks.work.sql.ts';
import { startDelivery } from './webhooks.worker.ts';

export const webhookDelivery = continuous({
  name: 'webhooks.delivery',
  start: startDelivery,
});

const resealBatch = 1_000;

/** Encrypts secrets with the current key, so that the previous one can be removed after an hour. */
export const webhookReseal = periodic({
  name: 'webhooks.reseal',
  everySeconds: () => 3_600,
  run: reseal,
});

export async function reseal(deps: Pick<Deps, 'db' | 'sealer'>): Promise<void> {
  let last: string | null = null;
  do {
    const rows: SecretRow[] = await deps.db.query(listSealedOtherwise(deps.sealer.keyId, last, resealBatch));
    for (const row of rows) {
      const sealed = sealAgain(deps, row);
      if (sealed) await deps.db.query(updateSealed(row, sealed.keyId, sealed.bytes));
    }
    last = rows.length < resealBatch ? null : (rows.at(-1)?.id ?? null);
  } while (last !== null);
}

/** A slot is truncated when all of its days are over for a week, so a delivery is kept for 7 to 8 days. */
export const deliveryPurge = periodic({
  name: 'webhooks.purge',
  everySeconds: () => 3_600,
  async run({ db }) {
    await db.query(deleteExpiredSecrets);
    for (const { slot } of await db.query<SlotRow>(listOldSlots)) await db.query(truncateSlot(slot));
  },
});
