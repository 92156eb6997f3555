-- Users by the beginning of their external id, ignoring case. Collation "C" lets one index serve the prefix, the order and the keyset.
create index users_by_external_id on users (project_id, (lower(external_id) collate "C"), id);
