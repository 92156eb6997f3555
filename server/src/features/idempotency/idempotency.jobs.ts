// Deletes answers that are kept no longer.
import { periodic } from '../../contract/job.ts';
import { deleteExpiredAnswers } from './idempotency.sql.ts';

const batchRows = 5_000;

export const answerPurge = periodic({
  name: 'idempotency.purge',
  everySeconds: () => 3_600,
  async run({ db }, signal) {
    let rows = batchRows;
    while (rows === batchRows && !signal.aborted)
      rows = (await db.query<{ rows: number }>(deleteExpiredAnswers(batchRows)))[0]?.rows ?? 0;
  },
});
