// Background work for accounts: reset links, purging of expired rows, re-encryption with a new key.
import type { Deps } from '../../contract/deps.ts';
import { periodic, queued } from '../../contract/job.ts';
import { isoOf } from '../../kernel/clock.ts';
import { oldestStepAt } from '../../kernel/crypto/totp.ts';
import { mailReset, type ResetRequest, resetQueue } from './accounts.password.ts';
import { deleteExpiredResets } from './accounts.sql.ts';
import {
  deleteExpiredChallenges,
  deleteStepsBefore,
  listSealedOtherwise,
  type TwoFactorRow,
  updateSealed,
} from './accounts.two-factor.sql.ts';
import { openSecret, secretPurpose } from './accounts.two-factor.ts';

export const resetRequests = queued<ResetRequest>({
  name: resetQueue,
  queue: () => ({ retriesMax: 8, retryDelaySeconds: 1, lostAfterSeconds: 60 }),
  concurrency: () => 2,
  run: mailReset,
});

export const accountPurge = periodic({
  name: 'accounts.purge',
  everySeconds: () => 3_600,
  async run({ db, clock }) {
    const now = isoOf(clock());
    await db.query(deleteExpiredResets(now));
    await db.query(deleteExpiredChallenges(now));
    await db.query(deleteStepsBefore(oldestStepAt(clock())));
  },
});

const resealBatch = 1_000;

/** Encrypts secrets with the current key, so that the previous one can be removed after an hour. */
export const accountReseal = periodic({
  name: 'accounts.reseal',
  everySeconds: () => 3_600,
  run: reseal,
});

export async function reseal(deps: Deps): Promise<void> {
  let last: string | null = null;
  do {
    const rows: TwoFactorRow[] = await deps.db.query(
      listSealedOtherwise(deps.sealer.keyId, last, resealBatch),
    );
    for (const row of rows) await resealOne(deps, row);
    last = rows.length < resealBatch ? null : (rows.at(-1)?.account_id ?? null);
  } while (last !== null);
}

async function resealOne(deps: Deps, row: TwoFactorRow): Promise<void> {
  const secret = openSecret(deps, row);
  if (secret === null) return;
  const { keyId, bytes } = deps.sealer.seal(secret, secretPurpose(row.account_id));
  await deps.db.query(updateSealed(row, keyId, bytes));
}
