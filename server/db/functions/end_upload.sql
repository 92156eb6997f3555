-- Ends an upload without a file: gives back what it has reserved and hands its objects to the reaper. No row if it has ended
-- already, or if another request than the one of this epoch has taken over.
create or replace function end_upload(
  project uuid, upload_id uuid, at_epoch integer, new_status text, why jsonb, action text,
  actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text
) returns setof uploads language plpgsql as $$
declare
  upload uploads;
begin
  perform lock_upload_owner(project, upload_id);
  select u.* into upload from uploads u
    where u.project_id = project and u.id = upload_id and u.status = 'uploading' and u.epoch = coalesce(at_epoch, u.epoch)
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
    perform record_audit(project, coalesce(actor_type, upload.actor_type), coalesce(actor_id, upload.actor_id),
      coalesce(actor_key_id, upload.actor_key_id), ip_address, user_agent, action, 'upload', upload.id::text, upload.user_id,
      jsonb_build_object('old', jsonb_build_object('name', upload.name, 'size', upload.size, 'offset', upload.received)));
  end if;
  -- As it was: the caller removes what it left in the store.
  return next upload;
end $$;
