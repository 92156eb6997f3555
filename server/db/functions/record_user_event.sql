-- Records an event about a user, with the user as it is now.
create or replace function record_user_event(project uuid, event_type text, of_user uuid) returns void
language plpgsql as $$
begin
  if not project_listens(project) then return; end if;
  perform insert_event(project, event_type, of_user, view_user(project, of_user)::text);
end $$;
