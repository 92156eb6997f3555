-- Files that were made private and are still at their public address. They are few, and go before all others that are
-- on the wrong shelf.
create index files_to_hide on files (id) where visibility = 'private' and shelf = 'public';
