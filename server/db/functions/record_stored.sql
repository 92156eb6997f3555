-- Records the events of files that store_files has just stored: those in the projects that listen, and the thresholds that their
-- users have crossed. `offset 0` forces one index probe per file: while files are few, PostgreSQL would plan to read all of them.
-- Generic plans, because it would plan anew for every length of the arrays.
create or replace function record_stored(stored_ids uuid[], listening uuid[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  users_added uuid[];
  bytes_added bigint[];
begin
  with stored as materialized (
    select f.project_id, f.user_id, f.size, f.view from unnest(listening) p(id), unnest(stored_ids) s(id), lateral (
      select f.project_id, f.user_id, f.size, f.view from files f where f.project_id = p.id and f.id = s.id offset 0) f),
  recorded as (
    insert into events (project_id, type, user_id, data)
    select s.project_id, 'file.created', s.user_id, s.view || 'null}' from stored s)
  select array_agg(added.user_id), array_agg(added.bytes) into users_added, bytes_added
    from (select s.user_id, sum(s.size)::bigint as bytes from stored s group by 1) added;
  perform record_thresholds(u.project_id, u.id, u.used_bytes - added.bytes, p.storage_limit, u.used_bytes, p.storage_limit)
    from unnest(users_added, bytes_added) added(user_id, bytes)
    join users u on u.id = added.user_id
    join plans p on p.project_id = u.project_id and p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where is_over(80, u.used_bytes, p.storage_limit);
  perform pg_notify('pakhus_events', p.id::text) from unnest(listening) p(id);
end $$;
