// Cursors deep into the list of a user's files. Walking there page by page would take minutes.
import { query } from './sizes.mjs';
import { call } from './tenant.mjs';

/** The cursor of the page that follows the user's `count` newest files. */
export async function cursorAfter({ tenant, database, url }, count) {
  const { rows } = await query(
    database.url,
    'select created_at, id from files where user_id = $1 order by created_at desc, id desc offset $2 limit 1',
    [tenant.userId, count - 1],
  );
  const { cursorCodec } = await import('../../dist/kernel/cursor.js');
  const { deriveKey } = await import('../../dist/kernel/crypto/secret.js');
  const codec = cursorCodec(deriveKey('a secret that only the benches know about', 'cursor'));
  const cursor = codec.encode(`files:${tenant.userId}`, [rows[0].created_at.toISOString(), rows[0].id]);
  const path = `/project/users/${tenant.userId}/files?limit=1&cursor=${cursor}`;
  await call({ url }, 'GET', path, { as: tenant.key });
  return cursor;
}
