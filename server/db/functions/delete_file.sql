-- Deletes a file: gives back what it was charged, deletes the row, hands its objects to the reaper, and records the audit and
-- the event.
-- Returns the file's zone, or no row where there is no such file.
create or replace function delete_file(
  project_id uuid, user_id uuid, space_id uuid, file_id uuid,
  action text, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text
) returns table (zone text) language plpgsql as $$
#variable_conflict use_column
declare
  gone record;
  listens boolean;
  compression text;
begin
  select p.listens_until > now() into listens from projects p where p.id = $1 for key share;
  perform from users u where u.project_id = $1 and u.id = $2 for no key update;
  -- The space before the file: see the order of locks in the baseline.
  perform from spaces s where s.project_id = $1
    and s.id = (select f.space_id from files f where f.id = $4 and f.project_id = $1) for no key update;
  if listens then
    select job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
      into compression from compression_jobs j where j.project_id = $1 and j.file_id = $4;
  end if;
  delete from files f
    where f.project_id = $1 and f.user_id = $2 and f.id = $4 and ($3 is null or f.space_id = $3)
    returning f.id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.zone, f.view into gone;
  if not found then return; end if;
  update users u set used_bytes = u.used_bytes - gone.size, file_count = u.file_count - 1
    where u.id = gone.user_id and u.project_id = $1;
  update spaces s set used_bytes = s.used_bytes - gone.size, file_count = s.file_count - 1
    where s.id = gone.space_id and s.project_id = $1;
  -- A mover or an image worker may still be writing: its object is deleted now, and again when its last request cannot
  -- arrive any more.
  update objects o set state = 'deleting', holder = null, held_until = now(),
      late_until = case when o.state in ('moving', 'rewriting') then o.held_until else o.late_until end
    where o.project_id = $1 and o.file_id = gone.id and o.state in ('stored', 'moving', 'rewriting');
  perform record_audit($1, $6, $7, $8, $9, $10, $5, 'file', gone.id::text, gone.user_id,
    jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
  if listens then
    perform insert_event($1, 'file.deleted', gone.user_id, gone.view || coalesce(compression, 'null') || '}');
  end if;
  return query select gone.zone;
end $$;
