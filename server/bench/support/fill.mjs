// Hundreds of thousands of files: rows without objects, for benches that read the database.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Such a bulk insert is unrealistic, so the totals are folded and the tables vacuumed before anything is measured. */
async function settle(client) {
  for (;;) {
    const { rows } = await client.query('select from stat_deltas limit 1');
    if (rows.length === 0) break;
    await delay(200);
  }
  await client.query('vacuum (analyze) files, users, stat_deltas, stat_totals');
}

/** Adds files until the user has `total` of them; resolves to the id of one. `folderOf` is SQL over the number n. */
export async function fillFiles(databaseUrl, { projectId, userId }, total, folderOf) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: counted } = await client.query(
      'select count(*)::int as files from files where user_id = $1',
      [userId],
    );
    await client.query(
      `insert into files (id, project_id, user_id, name, size, mime_type, storage_key, folder, tags, sha256, created_at)
       select id, $1::uuid, $2::uuid, 'file-' || n || '.bin', 1000, 'application/octet-stream', $1 || '/' || id,
         ${folderOf}, array['bench'], '\\x00', now() - make_interval(secs => n / 10.0)
       from (select n, gen_random_uuid() as id from generate_series($3::int + 1, $4::int) n) numbered`,
      [projectId, userId, counted[0].files, total],
    );
    await settle(client);
    const { rows } = await client.query('select id from files where user_id = $1 limit 1', [userId]);
    return rows[0].id;
  } finally {
    await client.end();
  }
}
