-- Brings files of one user back from the trash. The caller has locked the user and found that the plan allows them. An
-- expiry that has passed meanwhile is dropped, or the file would go again at once. Returns the files as the API shows them,
-- and their image jobs that have not ended: workers have given them up.
create or replace function restore_files(project uuid, owner uuid, space uuid, file_ids uuid[], stamp jsonb)
returns table (id uuid, shown text, waiting_job uuid) language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  listens boolean;
  back record;
begin
  select p.listens_until > now() into listens from projects p where p.id = project for key share;
  for back in
    with taken as materialized (
      select t.id, t.user_id, t.space_id, t.name, t.size, t.mime_type, t.storage_key, t.folder, t.tags, t.classifier,
        t.metadata, t.visibility, t.zone, t.sha256, t.crc32, t.expires_at, t.retain_until, t.created_at
      from trashed_files t
      where t.project_id = project and t.user_id = owner and t.id = any(file_ids) and (space is null or t.space_id = space)
      for update),
    inserted as (
      insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
        metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at)
      select t.id, project, t.user_id, t.space_id, t.name, t.size, t.mime_type, t.storage_key, t.folder, t.tags, t.classifier,
        t.metadata, t.visibility, t.zone, t.sha256, t.crc32, case when t.expires_at > now() then t.expires_at end,
        t.retain_until, t.created_at, now()
      from taken t
      returning id, name, mime_type, view),
    deleted as (
      delete from trashed_files t where t.project_id = project and t.id = any(array(select i.id from inserted i))),
    -- A mover may be taking it out of the public zone.
    dropped as (
      update objects o set state = 'deleting', holder = null, held_until = now(), late_until = o.held_until
      where o.project_id = project and o.file_id = any(array(select t.id from taken t)) and o.state = 'moving')
    select i.id, i.name, i.view || case when j.id is null then 'null' else
        job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
      end || '}' as shown, case when j.status in ('pending', 'processing') then j.id end as waiting_job
    from inserted i left join compression_jobs j on j.project_id = project and j.file_id = i.id
  loop
    perform record_audit(project, stamp ->> 'actor_type', (stamp ->> 'actor_id')::uuid, stamp ->> 'actor_key_id',
      stamp ->> 'ip_address', stamp ->> 'user_agent', stamp ->> 'action', 'file', back.id::text, owner,
      jsonb_build_object('new', jsonb_build_object('name', back.name)));
    if listens then perform insert_event(project, 'file.restored', owner, back.shown); end if;
    id := back.id;
    shown := back.shown;
    waiting_job := back.waiting_job;
    return next;
  end loop;
end $$;
