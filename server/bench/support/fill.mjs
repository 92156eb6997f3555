// Files by the million, for benches that read the database: copies of the rows of one real upload, so that they fit the
// schema of any checkout. No bytes are stored for them.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { formHeaders, formOf } from './forms.mjs';

const rowsPerTransaction = 250_000;
/** From here on it is faster to build the indexes afterwards. */
const rowsWithIndexes = 1_000_000;
/** Rows of the audit log change nothing else, so several connections may add them. */
const auditWriters = 2;

/**
 * Adds files until the tenant's user has `total` of them, or until that many fulfil the condition `counted`; resolves to
 * the id of one of the user's. `columns` is SQL over the number n for columns that differ from file to file.
 */
export async function fillFiles(server, total, columns, { counted } = {}) {
  const { tenant, database } = server;
  return withClient(database, async (client) => {
    const template = await upload(server, tenant);
    const have = await countRows(client, 'files', counted ?? `user_id = '${tenant.userId}'`);
    await withoutService(server, client, () =>
      fill([client], 'files', { first: have + 1, last: total }, (_client, range) =>
        addFiles(client, template, range, { ...common(total), ...columns }),
      ),
    );
    await settle(client);
    return someFile(client, tenant.userId);
  });
}

/** Indexes the names of the tenant's files, as the service does over hours. */
export async function fillNames({ tenant: { projectId }, database }) {
  await withClient(database, async (client) => {
    const indexes = await dropIndexes(client, 'file_names');
    await client.query(
      `insert into file_names (project_id, user_id, space_id, file_id, folder_hash, name_key, size, sha256, created_at)
       select project_id, user_id, space_id, id, md5(folder)::uuid, file_name_key(name), size, sha256, created_at
       from files where project_id = $1`,
      [projectId],
    );
    await client.query(`set maintenance_work_mem = '512MB'`);
    for (const definition of indexes) await client.query(definition);
    await client.query(
      `update projects set searches_since = now() - interval '1 hour', searchable = true where id = $1`,
      [projectId],
    );
    await client.query('vacuum (analyze) file_names');
  });
}

/**
 * Adds audit rows until there are `total` of them, spread over 300 days in the order of their time. `columns` as above.
 */
export async function fillAudit(server, total, columns) {
  const { tenant, database } = server;
  await withClients(database, auditWriters, async (clients) => {
    const [client] = clients;
    const template = await upload(server, tenant);
    await addMonths(client);
    const copy = await copyOf(client, 'audit_logs', 'resource_id', template, {
      id: 'gen_random_uuid()',
      created_at: `now() - interval '300 days' * (1 - n / ${total}.0)`,
      ...columns,
    });
    const have = await countRows(client, 'audit_logs', 'true');
    await withoutService(server, client, () =>
      fill(clients, 'audit_logs', { first: have + 1, last: total }, async (writer, range) => {
        await writer.query('begin');
        await numberRows(writer, range);
        await writer.query(copy);
        await writer.query('commit');
      }),
    );
    await client.query('vacuum (analyze) audit_logs');
  });
}

const withClient = (database, work) => withClients(database, 1, ([client]) => work(client));

async function withClients({ url }, count, work) {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  return work(clients).finally(() => Promise.all(clients.map((client) => client.end())));
}

/** Stops the service meanwhile, between transactions: without indexes, its periodic statements read whole tables. */
async function withoutService({ pid }, client, work) {
  for (;;) {
    process.kill(pid, 'SIGSTOP');
    await delay(100);
    const { rows } = await client.query(
      `select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
         and pid <> pg_backend_pid() and xact_start is not null`,
    );
    if (rows.length === 0) break;
    process.kill(pid, 'SIGCONT');
    await delay(100);
  }
  return work().finally(() => process.kill(pid, 'SIGCONT'));
}

async function countRows(client, table, condition) {
  const { rows } = await client.query(`select count(*)::int as count from ${table} where ${condition}`);
  return rows[0].count;
}

/** Calls `add` for each range of numbers; every client takes the next range once it has added one. */
async function fill(clients, table, { first, last }, add) {
  const [client] = clients;
  const indexes = last - first < rowsWithIndexes ? [] : await dropIndexes(client, table);
  const ranges = rangesOf(first, last);
  await Promise.all(
    clients.map(async (writer) => {
      for (const range of ranges) await add(writer, range);
    }),
  );
  await client.query(`set maintenance_work_mem = '512MB'`);
  for (const definition of indexes) await client.query(definition);
}

function* rangesOf(first, last) {
  for (let from = first; from <= last; from += rowsPerTransaction)
    yield { first: from, last: Math.min(from + rowsPerTransaction - 1, last) };
}

/** All but those of constraints; resolves to the statements that create them again. */
async function dropIndexes(client, table) {
  const { rows } = await client.query(
    `select indexname as name, replace(indexdef, ' ON ONLY ', ' ON ') as definition from pg_indexes
     where schemaname = 'public' and tablename = $1 and indexname not in (select conname from pg_constraint)`,
    [table],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** In the order of their time, as they would arrive. */
const common = (total) => ({
  name: `'file-' || n || '.bin'`,
  created_at: `now() - make_interval(secs => (${total} - n) / 10.0)`,
  updated_at: `now() - make_interval(secs => (${total} - n) / 10.0)`,
});

/**
 * A mix in which every filter finds at least 20 files among a thousand, alone and in pairs. The oldest thousand have 25
 * rare ones of each kind, however many files there are. `space` is SQL for the space of file n.
 */
export const mixedColumns = (space) => ({
  folder: `case when n % 10 = 0 then '' else 'folder-' || (n % 5) || '/deeper-' || (n % 10) end`,
  tags: `case when n <= 1000 and n % 40 = 7 then array['rare'] when n / 40 % 4 = 0 then array['bench', 'tag-' || (n / 160 % 3)]
    when n / 40 % 4 = 1 then array['bench'] else '{}' end`,
  classifier: `case when n <= 1000 and n % 40 = 8 then 'rare' when n % 7 < 4 then 'class-' || (n % 7) end`,
  mime_type: `case when n <= 1000 and n % 40 = 9 then 'video/rare'
    else (array['application/pdf', 'text/plain', 'image/png', 'application/octet-stream'])[1 + n / 10 % 4] end`,
  visibility: `case when n % 11 = 3 then 'public' else 'private' end`,
  zone: `case when n % 11 = 3 then 'public' else 'private' end`,
  space_id: `case when n % 3 = 0 then ${space} end`,
});

/** A user with 25 audit rows. */
export const rareAuditUser = '00000000-0000-4000-8000-000000000001';

/**
 * Mostly downloads, a tenth uploads. The oldest thousand rows have 25 rare ones of each kind. `anyUser` is SQL for one of many
 * users.
 */
export const mixedAudit = (anyUser) => ({
  action: `case when n <= 1000 and n % 40 = 8 then 'plan.delete' when n % 10 = 0 then 'file.upload' else 'file.download' end`,
  actor_type: `case when n <= 1000 and n % 40 = 9 then 'admin' else t.actor_type end`,
  user_id: `case when n <= 1000 and n % 40 = 7 then '${rareAuditUser}' when n % 10 = 1 then t.user_id else ${anyUser} end`,
  metadata: `case when n % 10 = 0 then t.metadata else '{}' end`,
});

/** Where the log is partitioned, the service has made the partitions that it needs: add the earlier ones. */
async function addMonths(client) {
  const { rows } = await client.query(`select relkind from pg_class where oid = 'audit_logs'::regclass`);
  if (rows[0].relkind !== 'p') return;
  await client.query(`do $$
    declare
      this_month constant timestamp := date_trunc('month', now() at time zone 'UTC');
      first constant timestamp := this_month - interval '10 months';
      month timestamp := first;
    begin
      if to_regclass('audit_logs_' || to_char(first, 'YYYY_MM')) is not null then return; end if;
      alter table audit_logs detach partition audit_logs_past;
      while month < this_month loop
        perform attach_audit_partition('audit_logs_' || to_char(month, 'YYYY_MM'), month at time zone 'UTC',
          (month + interval '1 month') at time zone 'UTC');
        month := month + interval '1 month';
      end loop;
      perform attach_audit_partition('audit_logs_past', '-infinity', first at time zone 'UTC');
    end $$`);
}

const numberRows = (client, { first, last }) =>
  client.query(
    `create temporary table numbered on commit drop as
       select n, gen_random_uuid() as id from generate_series($1::int, $2::int) n`,
    [first, last],
  );

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

/**
 * Triggers on files may write several rows for each; here one statement adds the same totals at once. Those that
 * write views and tags have to run, where the schema has them.
 */
async function addFiles(client, template, range, columns) {
  const files = await copyOf(client, 'files', 'id', template, columns);
  const objects = await copyOf(client, 'objects', 'file_id', template, columns);
  await client.query('begin');
  await client.query('alter table files disable trigger user');
  const { rows } = await client.query(
    `select tgname as name from pg_trigger where tgname in ('files_viewed', 'files_tagged')`,
  );
  for (const { name } of rows) await client.query(`alter table files enable trigger ${name}`);
  await numberRows(client, range);
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
