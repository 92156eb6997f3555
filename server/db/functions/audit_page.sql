-- The newest rows of the audit log before a position, of one project or of all, by a user, an action, both, or a kind of actor. For
-- each of these there is an index in the order of the page, so a page costs the same however many rows there are.
--
-- Plans are made once, for unknown values, because planning for every partition takes several times as long as reading a page. Such
-- a plan must suit every value, and PostgreSQL expects an average one. Therefore:
-- - no sorting and no bitmaps: to sort the few rows it expects looks cheap, and a user may have a million;
-- - a value is also compared as a range, which makes it look rare: if there are few values, reading all rows by time until a page
--   is full looks cheap, and the value may have no row;
-- - some indexes need a condition that every row fulfils (see migration 0004), and only what should use them states it.
-- A statement for each filter, because each has a plan of its own.
create or replace function audit_page(
  of_project uuid, by_user uuid, by_action text, by_actor text, since timestamptz, until timestamptz,
  before_time timestamptz, before_id uuid, rows_max integer
) returns table (
  id uuid, project_id uuid, actor_type audit_actor, actor_id uuid, actor_key_id text, user_id uuid, action text, resource_type text,
  resource_id text, ip_address text, user_agent text, metadata jsonb, created_at timestamptz
) language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
#variable_conflict use_column
begin
  -- All rows of a user are of one project. Without this, the rows of a user of another project would all be read, and skipped.
  if of_project is not null and by_user is not null and of_project is distinct from (
    select project_id from audit_logs where user_id = by_user and user_id between by_user and by_user and project_id is not null
    order by created_at desc, id desc limit 1) then
    return;
  end if;
  -- One bound, in two forms: PostgreSQL finds its first row by either of them, and leaves out partitions only by the simple one.
  if until < before_time then
    before_time := until;
    before_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end if;
  if by_user is not null and by_action is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where user_id = by_user and user_id between by_user and by_user and (of_project is null or project_id = of_project)
        and action = by_action and action between by_action and by_action
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif by_user is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where user_id = by_user and user_id between by_user and by_user and (of_project is null or project_id = of_project)
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif of_project is null and by_action is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where action = by_action and action between by_action and by_action and created_at > '-infinity'
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif of_project is null and by_actor is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where actor_type = by_actor and actor_type between by_actor and by_actor and created_at > '-infinity'
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif of_project is null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif by_action is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where project_id = of_project and action = by_action and action between by_action and by_action
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif by_actor is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where project_id = of_project and actor_type = by_actor and actor_type between by_actor and by_actor
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  else
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where project_id = of_project and project_id between of_project and of_project and created_at > '-infinity'
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  end if;
end $$;
