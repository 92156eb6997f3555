-- Locks the project, the user and the space of an upload, in the order in which everybody locks them.
create or replace function lock_upload_owner(project uuid, upload_id uuid) returns void language plpgsql as $$
declare
  upload record;
begin
  perform from projects p where p.id = project for key share;
  select u.user_id, u.space_id into upload from uploads u where u.project_id = project and u.id = upload_id;
  perform from users u where u.project_id = project and u.id = upload.user_id for no key update;
  perform from spaces s where s.project_id = project and s.id = upload.space_id for no key update;
end $$;
