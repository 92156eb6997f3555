-- Whether the URL of an upload still works: whoever created it could still upload there. The subject of a user token is
-- its user, that of a space token its space.
create or replace function upload_is_alive(upload uploads) returns boolean language sql stable as $$
  select exists (
    select from projects p join users u on u.project_id = p.id
    where p.id = upload.project_id and p.active and u.id = upload.user_id and u.active
      and (upload.space_id is null or exists (select from spaces s
        where s.project_id = p.id and s.user_id = u.id and s.id = upload.space_id and s.active))
      and (upload.integration_id is null or exists (select from integrations i
        where i.project_id = p.id and i.id = upload.integration_id and i.active))
      and (upload.key_id is null or exists (select from api_keys k
        where k.project_id = p.id and k.id = upload.key_id and k.active))
      and not exists (select from revoked_tokens r where r.jti = upload.jti and r.subject_id in (u.id, upload.space_id)))
$$;
