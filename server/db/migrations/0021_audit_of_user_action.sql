-- What a user did of one kind: with the index by user alone, a list read all rows of the user if few of them had the action.
create index audit_logs_of_user_action on audit_logs (user_id, action, created_at, id) where user_id is not null;
