-- Hands objects of an unfinished upload to the reaper. A write that its holder has sent may still arrive.
create or replace function drop_upload_objects(project uuid, variadic ids uuid[]) returns void language sql as $$
  update objects o set state = 'deleting', holder = null, held_until = now(), late_until = now() + interval '1 minute'
  where o.project_id = project and o.file_id = any(ids) and o.id = o.file_id and o.state = 'writing'
$$;
