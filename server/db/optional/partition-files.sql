-- Splits files into 16 hash partitions by project. Run it by psql in one transaction, with every instance of Pakhus
-- stopped; the next start puts the triggers back. docs/scaling.md says what it brings and what it costs.
begin;

create temporary table files_definitions on commit drop as
  select indexdef from pg_indexes where schemaname = 'public' and tablename = 'files' and indexname <> 'files_pkey';
alter table variant_images drop constraint variant_images_project_id_file_id_fkey;
alter table files rename to files_whole;

create table files (like files_whole including defaults including constraints including storage)
  partition by hash (project_id);
do $$ begin
  for remainder in 0..15 loop
    execute format('create table files_%s partition of files for values with (modulus 16, remainder %s)',
      lpad(remainder::text, 2, '0'), remainder);
  end loop;
end $$;
insert into files select * from files_whole;
drop table files_whole;

alter table files add constraint files_pkey primary key (project_id, id),
  add constraint files_project_id_user_id_fkey
    foreign key (project_id, user_id) references users (project_id, id) on delete cascade,
  add constraint files_project_id_user_id_space_id_fkey
    foreign key (project_id, user_id, space_id) references spaces (project_id, user_id, id);
do $$ declare definition text; begin
  for definition in select indexdef from files_definitions loop
    execute definition;
  end loop;
end $$;
alter table variant_images add constraint variant_images_project_id_file_id_fkey
  foreign key (project_id, file_id) references files (project_id, id) on delete cascade;

-- The triggers of files come with their functions, which the next start applies again.
delete from applied_functions where name in ('note_file_changed.sql', 'note_files_added.sql', 'note_files_gone.sql',
  'write_file_view.sql', 'keep_file_tags.sql', 'drop_jobs.sql');

commit;
analyze files;
