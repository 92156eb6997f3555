-- What was known of a password when it was set.

-- The scopes that whoever set a space's password held then, '*' for all. The space may not be given more than that
-- without a new password. Of passwords set before this migration only what the space may do now is certain.
alter table spaces add column password_scopes text[];
update spaces set password_scopes = scopes where password_hash is not null;
