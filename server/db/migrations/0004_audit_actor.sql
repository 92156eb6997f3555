-- A list by kind of actor read a project's rows from the newest back until it had a page. Partitions that are created later get the
-- indexes as well.
create index audit_logs_of_actor on audit_logs (project_id, actor_type, created_at, id);

-- Every row is later than '-infinity': only a statement with the same condition uses this index (audit.sql.ts). In a plan for
-- unknown values, PostgreSQL otherwise takes it for a list by action, too, and skips nearly all rows of a large project.
drop index audit_logs_of_project;
create index audit_logs_of_project on audit_logs (project_id, created_at, id) where created_at > '-infinity';
