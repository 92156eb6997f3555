-- Keeps the usage of the current day in the user's row, and writes the day to usage_days when the first change of another day comes.
-- An upload on the same day needs nothing, because what was stored follows from used_bytes and file_count: so the condition of the
-- trigger is all that it costs. The day is that of the change, not of the start of its transaction, which may be minutes earlier.
create or replace function keep_usage() returns trigger language plpgsql as $$
declare
  -- Never an earlier day, even if the clock was set back.
  today date := greatest((clock_timestamp() at time zone 'UTC')::date, old.usage_day);
  is_new_day boolean := old.usage_day < today;
  base_files bigint := old.day_base_files;
  base_bytes bigint := old.day_base_bytes;
  peak_bytes bigint := greatest(old.day_peak_bytes, old.used_bytes);
begin
  -- A project that is being deleted takes its usage along.
  if tg_op = 'DELETE' and not exists (select from projects p where p.id = old.project_id) then return old; end if;
  if is_new_day and (base_files is not null or old.file_count > 0) then
    insert into usage_days (project_id, user_id, date, until, bytes_max, bytes_end, uploads, bytes_in)
    values (old.project_id, old.id, old.usage_day, today - 1, peak_bytes, old.used_bytes,
      old.file_count - coalesce(base_files, old.file_count), old.used_bytes - coalesce(base_bytes, old.used_bytes));
  end if;
  if is_new_day or base_files is null then
    base_files := old.file_count;
    base_bytes := old.used_bytes;
    peak_bytes := old.used_bytes;
  end if;
  if tg_op = 'DELETE' then
    insert into usage_days (project_id, user_id, date, until, bytes_max, bytes_end, uploads, bytes_in, is_last)
    values (old.project_id, old.id, today, today, peak_bytes, 0, old.file_count - base_files, old.used_bytes - base_bytes, true);
    return old;
  end if;
  new.usage_day := today;
  new.day_base_files := base_files + least(new.file_count - old.file_count, 0);
  new.day_base_bytes := base_bytes + least(new.used_bytes - old.used_bytes, 0);
  new.day_peak_bytes := peak_bytes;
  return new;
end $$;
create or replace trigger users_usage before update of used_bytes, file_count on users for each row
  when (new.file_count < old.file_count or new.used_bytes < old.used_bytes or old.day_base_files is null
    or old.usage_day < (clock_timestamp() at time zone 'UTC')::date)
  execute function keep_usage();
create or replace trigger users_last_usage before delete on users for each row
  when (old.day_base_files is not null or old.file_count > 0)
  execute function keep_usage();
