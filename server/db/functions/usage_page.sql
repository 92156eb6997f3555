-- Usage by day, then by user, as JSON objects or lines of CSV: at most `rows_max` of them, from the user after `after_user` on. Unless
-- `next_day` is null, more may follow from there. A user has a row for every day on which something was stored, kept, deleted or
-- downloaded.
--
-- Users who stored nothing give no rows, so a page also ends after it has looked at a bounded number of them. Days without a change
-- follow from the last change before them.
--
-- Plans are cached while tables may still be small: no sequential scans.
create or replace function usage_page(
  project uuid, first_day date, last_day date, after_user uuid, only_user uuid, rows_max integer, as_csv boolean,
  out rows_text text, out next_day date, out next_user uuid
) language plpgsql stable set enable_seqscan = off as $$
declare
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  end_day date := least(last_day, (now() at time zone 'UTC')::date);
  work_left integer := 50000;
  rows_left integer := rows_max;
  this_day date := first_day;
  day_text text;
  after uuid := coalesce(after_user, nobody);
  looked_max integer;
  looked uuid[];
  ids uuid[];
  part record;
begin
  rows_text := '';
  while this_day <= end_day loop
    if rows_left = 0 or work_left <= 0 then
      next_day := this_day;
      next_user := after;
      return;
    end if;
    day_text := to_char(this_day, 'YYYY-MM-DD');
    looked_max := greatest(rows_left, 1000);
    if only_user is not null then
      looked := array[only_user];
      ids := looked;
    else
      -- A user without files can have a row for its last day of change and earlier ones, if it ever changed.
      select coalesce(array_agg(u.id order by u.id), '{}'), coalesce(array_agg(u.id order by u.id) filter (where u.may_count), '{}')
      into looked, ids
      from (
        select u.id, u.may_count from (
          (select u.id, u.file_count > 0 or u.day_base_files is not null and u.usage_day >= this_day as may_count
            from users u where u.project_id = project and u.id > after order by u.id limit looked_max)
          union all
          (select d.user_id, true from usage_days d where d.project_id = project and d.is_last and d.user_id > after
            order by d.user_id limit looked_max)) u
        order by u.id limit looked_max) u;
    end if;
    if cardinality(ids) > rows_left then
      ids := ids[:rows_left];
      after := ids[rows_left];
    elsif only_user is null and cardinality(looked) = looked_max then
      after := looked[looked_max];
    else
      after := null;
    end if;
    select count(*) as rows, string_agg(case
      when as_csv then concat_ws(',', day_text, f.id, f.bytes_max, f.bytes_end, f.uploads, f.downloads, f.bytes_in) || e'\r\n'
      else concat('{"date":"', day_text, '","user_id":"', f.id, '","bytes_max":', f.bytes_max, ',"bytes_end":', f.bytes_end,
        ',"uploads":', f.uploads, ',"downloads":', f.downloads, ',"bytes_in":', f.bytes_in, '}')
      end, case when as_csv then '' else ',' end order by f.id) as text
    into part
    from (
      select i.id, case when u.date = this_day then u.bytes_max else u.bytes_end end as bytes_max, u.bytes_end,
        case when u.date = this_day then u.uploads else 0 end as uploads,
        coalesce(s.downloads, o.downloads, 0) as downloads,
        case when u.date = this_day then u.bytes_in else 0 end as bytes_in
      from unnest(ids) i(id)
      cross join lateral (
        select u.usage_day as date, greatest(u.day_peak_bytes, u.used_bytes) as bytes_max, u.used_bytes as bytes_end,
          u.file_count - coalesce(u.day_base_files, u.file_count) as uploads,
          u.used_bytes - coalesce(u.day_base_bytes, u.used_bytes) as bytes_in
        from users u where u.project_id = project and u.id = i.id and u.usage_day <= this_day
        union all
        select last.date, last.bytes_max, last.bytes_end, last.uploads, last.bytes_in from (
          select d.date, d.until, d.bytes_max, d.bytes_end, d.uploads, d.bytes_in from usage_days d
          where d.project_id = project and d.user_id = i.id and d.date <= this_day order by d.date desc limit 1) last
        where last.until >= this_day
        limit 1) u
      left join daily_stats s on s.project_id = project and s.subject_id = i.id and s.day = this_day
      left join usage_downloads o on o.project_id = project and o.user_id = i.id and o.date = this_day
    ) f where f.bytes_max > 0 or f.uploads > 0 or f.downloads > 0;
    if part.rows > 0 then
      rows_text := rows_text || case when as_csv or rows_text = '' then '' else ',' end || part.text;
    end if;
    work_left := work_left - cardinality(ids) - cardinality(looked) / 4 - 50;
    rows_left := rows_left - part.rows;
    if after is null then
      this_day := this_day + 1;
      after := nobody;
    end if;
  end loop;
end $$;
