-- Lists are newest first, and were indexed that way: every new row then goes to the left end of its range, where
-- PostgreSQL splits pages in half and leaves both half full. In ascending order it goes to the right end, which
-- PostgreSQL knows how to fill, and a list reads its index backwards at the same cost.

-- The key of audit rows is what they are ordered by; nothing looks for one by its id alone.
alter table audit_logs drop constraint audit_logs_pkey;
drop index audit_logs_newest, audit_logs_of_project, audit_logs_of_action, audit_logs_of_user;
alter table audit_logs add primary key (created_at, id);
create index audit_logs_of_project on audit_logs (project_id, created_at, id);
create index audit_logs_of_action on audit_logs (project_id, action, created_at, id);
create index audit_logs_of_user on audit_logs (user_id, created_at, id) where user_id is not null;

drop index files_newest, files_of_level, files_of_space, files_of_folder, files_of_space_folder, files_of_mime_type,
  files_of_classifier, files_public;
create index files_newest on files (project_id, user_id, created_at, id);
create index files_of_level on files (user_id, created_at, id) where space_id is null;
create index files_of_space on files (space_id, created_at, id) where space_id is not null;
create index files_of_folder on files (user_id, translate(folder, '/', E'\x01'), created_at, id);
create index files_of_space_folder on files (space_id, translate(folder, '/', E'\x01'), created_at, id)
  where space_id is not null;
create index files_of_mime_type on files (user_id, mime_type, created_at, id);
create index files_of_classifier on files (user_id, classifier, created_at, id) where classifier is not null;
create index files_public on files (user_id, created_at, id) where visibility = 'public';
