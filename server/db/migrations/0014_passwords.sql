-- What is known of passwords beside their hashes: who has set them, and which browsers have proved them.

-- The scopes that whoever set a space's password held then, '*' for all. The space may not be given more than that
-- without a new password. Of passwords set before this migration only what the space may do now is certain.
alter table spaces add column password_scopes text[];
update spaces set password_scopes = scopes where password_hash is not null;

-- Browsers that have logged in carry the generation of their account in a cookie. A password reset begins a new one.
alter table accounts add column device_generation integer not null default 0;
