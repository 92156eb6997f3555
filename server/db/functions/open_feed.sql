-- Called at every start. Positions in the feed are ids of transactions, which mean nothing in a database that was restored on
-- another server: there the feed starts anew, and cursors from before get 410.
create or replace function open_feed() returns void language plpgsql as $$
declare
  current_system text := (select system_identifier::text from pg_control_system());
begin
  insert into event_feed (system) values (current_system)
    on conflict (only_row) do update set system = excluded.system, id = gen_random_uuid()
    where event_feed.system <> excluded.system;
  if found then truncate events; end if;
end $$;
