-- What accounts have beside a password: second factors, logins that wait for one, and links to a new password.
--
-- Whoever changes an account locks its row first, so that a login, a new password and a second factor never
-- cross each other.

create table two_factors (
  account_id uuid primary key references accounts on delete cascade,
  -- The key that the secret is sealed with: keys are replaced, secrets stay.
  key_id text not null,
  sealed_secret bytea not null,
  -- Null: enrolled, and of no effect yet.
  activated_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index two_factors_of_key on two_factors (key_id);

-- A code logs in once: the key of this table decides who of several was first.
create table used_totp_steps (
  account_id uuid not null references two_factors on delete cascade,
  step bigint not null,
  primary key (account_id, step)
);
create index used_totp_steps_age on used_totp_steps (step);

-- A code that has been used is deleted.
create table recovery_codes (
  account_id uuid not null references two_factors on delete cascade,
  code_hash bytea not null,
  primary key (account_id, code_hash)
);

-- The password was right, the second factor is awaited. A challenge lives as long as its row.
create table login_challenges (
  jti uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  failures smallint not null default 0,
  expires_at timestamptz(3) not null
);
create index login_challenges_of_account on login_challenges (account_id);
create index login_challenges_expiry on login_challenges (expires_at);

create table password_resets (
  token_hash bytea primary key,
  account_id uuid not null references accounts on delete cascade,
  expires_at timestamptz(3) not null
);
create index password_resets_of_account on password_resets (account_id);
create index password_resets_expiry on password_resets (expires_at);
