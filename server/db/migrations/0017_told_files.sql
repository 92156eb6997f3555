-- Before: batches of uploads notified the readers of events inside their transaction. They now return whom to notify, and a
-- function cannot be given another result while it exists.
drop function if exists store_files(jsonb);
