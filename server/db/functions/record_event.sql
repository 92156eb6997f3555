-- Records an event in the caller's transaction, if the project listens. It does not catch errors: a change without its event
-- must not be committed.
create or replace function record_event(project uuid, event_type text, of_user uuid, event_data text) returns void
language plpgsql as $$
begin
  if project_listens(project) then perform insert_event(project, event_type, of_user, event_data); end if;
end $$;
