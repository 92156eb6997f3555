-- Deletes files of one user from the trash, for good. Arguments and results are those of remove_files.
create or replace function purge_files(project uuid, owner uuid, space uuid, file_ids uuid[], stamp jsonb)
returns table (id uuid, zone text) language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  listens boolean;
  gone record;
begin
  select p.listens_until > now() into listens from projects p where p.id = project for key share;
  perform from users u where u.project_id = project and u.id = owner for no key update;
  perform from spaces s where s.project_id = project and s.id = any(array(
    select t.space_id from trashed_files t where t.project_id = project and t.id = any(file_ids) and t.space_id is not null))
    order by s.id for no key update;
  for gone in
    with taken as (
      delete from trashed_files t
      where t.project_id = project and t.user_id = owner and t.id = any(file_ids) and (space is null or t.space_id = space)
      returning t.id, t.space_id, t.name, t.size, t.mime_type, t.zone, t.view),
    charged_user as (
      update users u set used_bytes = u.used_bytes - g.bytes, file_count = u.file_count - g.files
      from (select sum(t.size)::bigint as bytes, count(*) as files from taken t having count(*) > 0) g
      where u.project_id = project and u.id = owner),
    charged_spaces as (
      update spaces s set used_bytes = s.used_bytes - g.bytes, file_count = s.file_count - g.files
      from (select t.space_id, sum(t.size)::bigint as bytes, count(*) as files from taken t
        where t.space_id is not null group by 1) g
      where s.project_id = project and s.id = g.space_id),
    dropped as (
      update objects o set state = 'deleting', holder = null, held_until = now(),
        late_until = case when o.state in ('moving', 'rewriting') then o.held_until else o.late_until end
      where o.project_id = project and o.file_id = any(array(select t.id from taken t))
        and o.state in ('stored', 'moving', 'rewriting')),
    told as (
      insert into events (project_id, type, user_id, data)
      select project, 'file.deleted', owner, t.view || coalesce((
        select job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
        from compression_jobs j where j.project_id = project and j.file_id = t.id and starts_with(t.mime_type, 'image/')),
        'null') || '}'
      from taken t where listens)
    select t.id, t.name, t.size, t.mime_type, t.zone from taken t
  loop
    perform record_audit(project, stamp ->> 'actor_type', (stamp ->> 'actor_id')::uuid, stamp ->> 'actor_key_id',
      stamp ->> 'ip_address', stamp ->> 'user_agent', stamp ->> 'action', 'file', gone.id::text, owner,
      jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
    id := gone.id;
    zone := gone.zone;
    return next;
  end loop;
  if listens then perform pg_notify('pakhus_events', project::text); end if;
end $$;
