-- Every filter of the audit log gets an index in the order of the list. Without one, a list by kind of actor, or of all projects
-- by action, read the log from the newest row back until it had a page. Partitions that are created later get them as well.
create index audit_logs_of_actor on audit_logs (project_id, actor_type, created_at, id);

-- Every row is later than '-infinity': only a statement with the same condition uses these indexes (audit.sql.ts). In a plan for
-- unknown values, PostgreSQL otherwise takes the index by project for a list by action, and skips nearly all rows of a large
-- project.
drop index audit_logs_of_project;
create index audit_logs_of_project on audit_logs (project_id, created_at, id) where created_at > '-infinity';
create index audit_logs_by_action on audit_logs (action, created_at, id) where created_at > '-infinity';
create index audit_logs_by_actor on audit_logs (actor_type, created_at, id) where created_at > '-infinity';
