-- Completes many uploads in one transaction, each with its own outcome: those that end together share one commit.
--
-- It never waits long for a lock. An upload whose project, user or space is locked or missing is 'passed over': the caller
-- completes it by itself with complete_upload, which waits or says what is wrong.
--
-- Plans are cached while tables may still be small: no sequential scans.
create or replace function complete_uploads(batch jsonb, out number bigint, out outcome text, out stored_at timestamptz)
returns setof record language plpgsql set enable_seqscan = off set lock_timeout = '250ms' as $$
declare
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  entry record;
begin
  free_projects := array(select p.id from projects p
    where p.id = any(array(select (e.value ->> 'project_id')::uuid from jsonb_array_elements(batch) e))
    for key share skip locked);
  free_users := array(select u.id from users u
    where u.id = any(array(select (e.value ->> 'user_id')::uuid from jsonb_array_elements(batch) e))
    for no key update skip locked);
  free_spaces := array(select s.id from spaces s
    where s.id = any(array(select (e.value ->> 'space_id')::uuid from jsonb_array_elements(batch) e))
    for no key update skip locked);
  for entry in
    select e.ordinality, e.value, f.project_id, f.user_id, f.space_id, f.id, f.epoch, f.digest
    from jsonb_array_elements(batch) with ordinality e,
      jsonb_to_record(e.value) f(project_id uuid, user_id uuid, space_id uuid, id uuid, epoch integer, digest bytea)
  loop
    number := entry.ordinality;
    outcome := 'passed over';
    stored_at := null;
    if entry.project_id = any(free_projects) and entry.user_id = any(free_users)
      and (entry.space_id is null or entry.space_id = any(free_spaces)) then
      select done.outcome, done.stored_at into outcome, stored_at
        from complete_upload(entry.project_id, entry.id, entry.epoch, entry.digest,
          entry.value ->> 'ip_address', entry.value ->> 'user_agent') done;
    end if;
    return next;
  end loop;
end $$;
