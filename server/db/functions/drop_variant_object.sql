-- Hands the object of a variant image to the reaper when its row goes or is to be made anew, and keeps the project's total of cached
-- bytes. A row trigger: deleting a file without variants costs nothing.
create or replace function drop_variant_object() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.object_id is not null then
    update objects o set state = 'deleting', holder = null, held_until = now()
      where o.project_id = old.project_id and o.file_id = old.file_id and o.id = old.object_id and o.zone = 'private'
        and o.state = 'stored';
    insert into stat_deltas values (old.project_id, 'variants', '', -1, -old.bytes);
  end if;
  if tg_op <> 'DELETE' and new.object_id is not null then
    insert into stat_deltas values (new.project_id, 'variants', '', 1, new.bytes);
  end if;
  return null;
end $$;
create or replace trigger variant_images_gone after delete on variant_images
  for each row when (old.object_id is not null) execute function drop_variant_object();
create or replace trigger variant_images_changed after update of object_id on variant_images
  for each row when (old.object_id is distinct from new.object_id) execute function drop_variant_object();
