-- Many files in one transaction: uploads that end together share a commit, and with it the wait for the disk.

-- Nobody's lock may hold up the others: a file whose project, user or space is locked by somebody else, or is not
-- there, is 'passed over', for store_file to wait or to say so. What is locked here is locked in the order that
-- store_file keeps, and never waited for, so that no two batches ever wait for each other.
create function store_files(batch jsonb, out number bigint, out outcome text, out stored_at timestamptz)
returns setof record language plpgsql as $$
declare
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  entry record;
  result record;
begin
  free_projects := array(select p.id from projects p
    where p.id in (select (e -> 'file' ->> 'project_id')::uuid from jsonb_array_elements(batch) e)
    for key share skip locked);
  free_users := array(select u.id from users u
    where u.id in (select (e -> 'file' ->> 'user_id')::uuid from jsonb_array_elements(batch) e)
    for no key update skip locked);
  free_spaces := array(select s.id from spaces s
    where s.id in (select (e -> 'file' ->> 'space_id')::uuid from jsonb_array_elements(batch) e)
    for no key update skip locked);
  for entry in
    select e.value, e.ordinality, jsonb_populate_record(null::files, e.value -> 'file') as file
    from jsonb_array_elements(batch) with ordinality e
  loop
    number := entry.ordinality;
    outcome := 'passed over';
    stored_at := null;
    entry.file.created_at := now();
    entry.file.updated_at := now();
    if (entry.file).project_id = any(free_projects) and (entry.file).user_id = any(free_users)
      and ((entry.file).space_id is null or (entry.file).space_id = any(free_spaces))
    then
      select stored.outcome, stored.stored_at into outcome, stored_at
        from store_file(entry.file, entry.value ->> 'actor_type', (entry.value ->> 'actor_id')::uuid,
          entry.value ->> 'actor_key_id', entry.value ->> 'ip_address', entry.value ->> 'user_agent') stored;
    end if;
    return next;
  end loop;
end $$;
