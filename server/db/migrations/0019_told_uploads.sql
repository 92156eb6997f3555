-- complete_uploads now also returns whose events the caller has to announce, and a function cannot be given another result while it
-- exists.
drop function if exists complete_uploads(jsonb);
