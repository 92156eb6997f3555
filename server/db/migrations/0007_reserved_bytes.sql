-- Bytes promised to unfinished uploads. Limits are compared with used_bytes + reserved_bytes: an upload that has reserved its size
-- cannot run out of room before it completes.
--
-- Every upload updates these rows, so a domain checks the column, as in 0003: a check of the table makes that update about 3 % dearer. The
-- domain gets its check last and without validation, so no table is read or rewritten. All existing rows have the default.
create domain byte_count as bigint;
alter table users add column reserved_bytes byte_count not null default 0;
alter table spaces add column reserved_bytes byte_count not null default 0;
alter domain byte_count add constraint byte_count_check check (value >= 0) not valid;
