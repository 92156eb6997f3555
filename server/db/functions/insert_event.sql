-- Records an event of a project that listens.
create or replace function insert_event(project uuid, event_type text, of_user uuid, event_data text) returns void
language plpgsql as $$
begin
  insert into events (project_id, type, user_id, data) values (project, event_type, of_user, event_data);
  perform pg_notify('pakhus_events', project::text);
end $$;
