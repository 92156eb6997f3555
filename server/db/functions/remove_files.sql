-- Removes files of one user: into the trash if the project has one, otherwise for good. Files that are held stay.
--
-- Charges, objects, audit rows and events change with the rows, or nothing does. A file in the trash keeps its object and its
-- charge. `stamp` is the audit row that each file gets, or null where the caller records one for all of them. Returns the files
-- that it removed; the zone is null while a file keeps its object.
create or replace function remove_files(
  project uuid, owner uuid, space uuid, file_ids uuid[], for_good boolean, stamp jsonb, event_type text default null
) returns table (id uuid, zone text, trashed boolean) language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  listens boolean;
  gone record;
begin
  select p.listens_until > now(), p.trash_days > 0 and not for_good into listens, trashed
    from projects p where p.id = project for key share;
  perform from users u where u.project_id = project and u.id = owner for no key update;
  -- The space before the file: see the order of locks in the baseline.
  perform from spaces s where s.project_id = project and s.id = any(array(
    select f.space_id from files f where f.project_id = project and f.id = any(file_ids) and f.space_id is not null))
    order by s.id for no key update;
  for gone in
    with taken as materialized (
      select f.id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder, f.tags, f.classifier,
        f.metadata, f.visibility, f.zone, f.sha256, f.crc32, f.expires_at, f.retain_until, f.created_at, f.updated_at, f.view
      from files f
      where f.project_id = project and f.user_id = owner and f.id = any(file_ids) and (space is null or f.space_id = space)
        and coalesce(f.retain_until <= now(), true)
      for update),
    kept as (
      insert into trashed_files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
        metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at, view)
      select t.id, project, t.user_id, t.space_id, t.name, t.size, t.mime_type, t.storage_key, t.folder, t.tags, t.classifier,
        t.metadata, t.visibility, t.zone, t.sha256, t.crc32, t.expires_at, t.retain_until, t.created_at, t.updated_at, t.view
      from taken t where trashed),
    deleted as (
      delete from files f where f.project_id = project and f.id = any(array(select t.id from taken t))),
    charged_user as (
      update users u set used_bytes = u.used_bytes - g.bytes, file_count = u.file_count - g.files
      from (select sum(t.size)::bigint as bytes, count(*) as files from taken t where not trashed having count(*) > 0) g
      where u.project_id = project and u.id = owner),
    charged_spaces as (
      update spaces s set used_bytes = s.used_bytes - g.bytes, file_count = s.file_count - g.files
      from (select t.space_id, sum(t.size)::bigint as bytes, count(*) as files from taken t
        where t.space_id is not null and not trashed group by 1) g
      where s.project_id = project and s.id = g.space_id),
    -- A mover or an image worker may still be writing. What a mover writes is deleted now, and again when its last request
    -- cannot arrive any more; what an image worker writes stays with a file in the trash, whose job knows both digests. Objects of
    -- variants go with their rows, which are locked first.
    dropped as (
      update objects o set state = case when trashed and o.state = 'rewriting' then 'stored' else 'deleting' end, holder = null,
        held_until = case when trashed and o.state = 'rewriting' then null else now() end,
        late_until = case when o.state in ('moving', 'rewriting') then o.held_until else o.late_until end
      where o.project_id = project and o.file_id = any(array(select t.id from taken t))
        and o.id = o.file_id and (o.state in ('moving', 'rewriting') or (o.state = 'stored' and not trashed))),
    told as (
      insert into events (project_id, type, user_id, data)
      select project, coalesce(event_type, case when trashed then 'file.trashed' else 'file.deleted' end), owner,
        t.view || coalesce((
          select job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
          from compression_jobs j where j.project_id = project and j.file_id = t.id and starts_with(t.mime_type, 'image/')),
          'null') || '}'
      from taken t where listens)
    select t.id, t.name, t.size, t.mime_type, t.zone from taken t
  loop
    if stamp is not null then
      perform record_audit(project, stamp ->> 'actor_type', (stamp ->> 'actor_id')::uuid, stamp ->> 'actor_key_id',
        stamp ->> 'ip_address', stamp ->> 'user_agent',
        case when trashed and stamp ->> 'action' = 'file.delete' then 'file.trash' else stamp ->> 'action' end,
        'file', gone.id::text, owner,
        jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
    end if;
    id := gone.id;
    zone := case when trashed then null else gone.zone end;
    return next;
  end loop;
  if listens then perform pg_notify('pakhus_events', project::text); end if;
end $$;
