-- Reserves bytes for a user and a space, or gives them back if negative. The caller has locked both, in this order.
create or replace function reserve_bytes(project uuid, owner uuid, space uuid, bytes bigint) returns void
language plpgsql as $$
begin
  if bytes = 0 then return; end if;
  update users u set reserved_bytes = u.reserved_bytes + bytes where u.project_id = project and u.id = owner;
  if space is not null then
    update spaces s set reserved_bytes = s.reserved_bytes + bytes where s.project_id = project and s.id = space;
  end if;
end $$;
