-- Ends an upload without a file: gives back what it has reserved and hands its objects to the reaper. Returns what it leaves
-- in the store; no row if it has ended already, or if another request than the one of this epoch has taken over. `shown` is the
-- upload as the API shows it, if its end is an event: only `expired` is one.
create or replace function end_upload(
  project uuid, upload_id uuid, at_epoch integer, new_status text, why jsonb, action text,
  actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text,
  shown jsonb default null
) returns table (id uuid, project_id uuid, object_id uuid, zone text, state jsonb, name text, mime_type text) language plpgsql as $$
#variable_conflict use_column
declare
  upload record;
begin
  perform lock_upload_owner(project, upload_id);
  select u.id, u.user_id, u.space_id, u.name, u.mime_type, u.size, u.received, u.reserved, u.epoch, u.receiving, u.object_id,
      u.tail_id, u.zone, u.state, u.actor_type, u.actor_id, u.actor_key_id
    into upload from uploads u
    where u.project_id = project and u.id = upload_id and u.status = 'uploading' and u.epoch = coalesce(at_epoch, u.epoch)
      -- One that was found overdue may have received something since.
      and (new_status <> 'expired' or u.expires_at <= now())
    for update;
  if not found then return; end if;
  perform reserve_bytes(project, upload.user_id, upload.space_id, -upload.reserved);
  perform drop_upload_objects(project, upload.object_id, upload.tail_id);
  delete from upload_parts p where p.project_id = project and p.upload_id = upload.id;
  if upload.receiving and at_epoch is null then perform pg_notify('pakhus_uploads', upload.id || ' ' || upload.epoch + 1); end if;
  update uploads u set status = new_status, error = why, reserved = 0, epoch = u.epoch + 1, receiving = false, state = null,
      tail_id = null, updated_at = now()
    where u.project_id = project and u.id = upload.id;
  if action is not null then
    perform record_audit(project, coalesce($7, upload.actor_type), coalesce($8, upload.actor_id),
      coalesce($9, upload.actor_key_id), ip_address, user_agent, action, 'upload', upload.id::text, upload.user_id,
      jsonb_build_object('old', jsonb_build_object('name', upload.name, 'size', upload.size, 'offset', upload.received)));
  end if;
  if shown is not null then
    perform record_event(project, 'upload.expired', upload.user_id, (shown || jsonb_build_object('status', new_status,
      'offset', upload.received, 'updated_at', to_iso(now())))::text);
  end if;
  return query select upload.id, project, upload.object_id, upload.zone, upload.state, upload.name, upload.mime_type;
end $$;
