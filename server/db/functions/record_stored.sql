-- Records the events of files that store_files has just stored in projects that listen, and the thresholds that were crossed by
-- those of their users who are near one, with the bytes that they have added. It is given the files: reading them again would
-- cost as much as inserting the events. Generic plans, because PostgreSQL would plan anew for every length of the arrays.
-- It notifies nobody of the files: the caller does, after the commit.
create or replace function record_stored(
  projects uuid[], owners uuid[], views text[], near_users uuid[], near_bytes bigint[]
) returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  today smallint := event_slot(now());
begin
  insert into events (slot, project_id, type, user_id, data)
    select today, f.project_id, 'file.created', f.user_id, f.view || 'null}'
    from unnest(projects, owners, views) f(project_id, user_id, view);
  if near_users <> '{}' then
    perform record_thresholds(u.project_id, u.id, u.used_bytes - n.bytes, p.storage_limit, u.used_bytes, p.storage_limit)
      from unnest(near_users, near_bytes) n(user_id, bytes)
      join users u on u.id = n.user_id
      join plans p on p.project_id = u.project_id and p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default));
  end if;
end $$;
