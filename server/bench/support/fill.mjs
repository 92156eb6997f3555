// Files by the million, for benches that read the database: copies of the rows of one real upload, so that they fit the
// schema of any checkout. No bytes are stored for them.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { formHeaders, formOf } from './forms.mjs';

const rowsPerTransaction = 250_000;

/**
 * Adds files until the user has `total` of them; resolves to the id of one. `columns` is SQL over the number n for
 * columns that differ from file to file.
 */
export async function fillFiles(server, total, columns, tenant = server.tenant) {
  const client = new pg.Client({ connectionString: server.database.url });
  await client.connect();
  try {
    const count = 'select count(*)::int as files from files where user_id = $1';
    const { rows } = await client.query(count, [tenant.userId]);
    const template = await upload(server, tenant);
    const last = total - 1;
    for (let first = rows[0].files + 1; first <= last; first += rowsPerTransaction)
      await addFiles(
        client,
        template,
        { first, last: Math.min(first + rowsPerTransaction - 1, last) },
        columns,
      );
    await settle(client);
    return await someFile(client, tenant.userId);
  } finally {
    await client.end();
  }
}

/** The file whose rows are copied. */
async function upload(server, { key, userId }) {
  const response = await fetch(`${server.url}/project/users/${userId}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...formHeaders },
    body: formOf(1000),
  });
  if (response.status !== 201) throw new Error(`upload got status ${response.status}`);
  return (await response.json()).file;
}

/** The trigger on files writes several rows for each; here one statement adds the same totals at once. */
async function addFiles(client, template, { first, last }, columns) {
  const defaults = {
    name: `'file-' || n || '.bin'`,
    created_at: `now() - make_interval(secs => n / 10.0)`,
    updated_at: `now() - make_interval(secs => n / 10.0)`,
  };
  const files = await copyOf(client, 'files', 'id', template, { ...defaults, ...columns });
  const objects = await copyOf(client, 'objects', 'file_id', template, {});
  await client.query('begin');
  await client.query('alter table files disable trigger user');
  await client.query(
    'create temporary table numbered on commit drop as select n, gen_random_uuid() as id from generate_series($1::int, $2::int) n',
    [first, last],
  );
  await client.query(`
    with added as (${files} returning project_id, user_id, space_id, size, visibility, mime_type, classifier),
    ${objects ? `added_objects as (${objects}),` : ''}
    counted_users as (
      update users u set used_bytes = used_bytes + bytes, file_count = file_count + files
      from (select user_id, sum(size) as bytes, count(*) as files from added group by 1) a where u.id = a.user_id),
    counted_spaces as (
      update spaces s set used_bytes = used_bytes + bytes, file_count = file_count + files
      from (select space_id, sum(size) as bytes, count(*) as files from added group by 1) a where s.id = a.space_id)
    insert into stat_deltas (project_id, dimension, value, count, bytes)
      select project_id, dimension, value, count(*), sum(size) from added
      cross join lateral (values ('visibility', visibility), ('mime_type', mime_type),
        ('classifier', coalesce(classifier, ''))) d(dimension, value)
      group by 1, 2, 3`);
  await client.query('alter table files enable trigger user');
  await client.query('commit');
}

/**
 * Inserts a copy of the template's row for every number: the new id stands wherever the template's id stood, in columns
 * that the schema has. Null if it has no such table.
 */
async function copyOf(client, table, idColumn, { id }, columns) {
  const { rows: known } = await client.query(
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  if (known.length === 0) return null;
  const { rows } = await client.query(`select * from ${table} where ${idColumn} = $1`, [id]);
  const valueFor = ({ name, type }) => {
    if (columns[name]) return columns[name];
    if (rows[0][name] === id) return 'numbered.id';
    if (type === 'text' && rows[0][name]?.includes(id))
      return `replace(t.${name}, '${id}', numbered.id::text)`;
    return `t.${name}`;
  };
  return `insert into ${table} (${known.map(({ name }) => name).join(', ')})
    select ${known.map(valueFor).join(', ')} from numbered, ${table} t where t.${idColumn} = '${id}'`;
}

/** Such a bulk insert is unrealistic, so the totals are folded and the tables vacuumed before anything is measured. */
async function settle(client) {
  for (;;) {
    const { rows } = await client.query('select from stat_deltas limit 1');
    if (rows.length === 0) break;
    await delay(200);
  }
  await client.query('vacuum (analyze)');
}

/** Neither the newest nor the oldest. */
async function someFile(client, userId) {
  const middle = `select id from files where user_id = $1 order by created_at desc
    offset (select count(*) / 2 from files where user_id = $1) limit 1`;
  const { rows } = await client.query(middle, [userId]);
  return rows[0].id;
}
