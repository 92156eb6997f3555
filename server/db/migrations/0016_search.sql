-- Files that a worker has yet to read for their digests: those that went past the service, and those stored before it computed
-- the crc32. Uploads through the service have both, so they never enter this index.
create index files_to_read on files (project_id, id) where sha256 is null or crc32 is null;
drop index files_to_hash;
