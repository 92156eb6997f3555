-- Made by `npm run schema` from the migrations; not applied by anything.

create table accounts (
  id uuid not null default gen_random_uuid(),
  project_id uuid,
  email text not null,
  email_key text not null,
  password_hash text not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  device_generation integer not null default 0
);
alter table accounts add constraint accounts_email_unique UNIQUE (email_key);
alter table accounts add constraint accounts_pkey PRIMARY KEY (id);
alter table accounts add constraint accounts_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table accounts add constraint accounts_project_id_key UNIQUE (project_id);

create table api_keys (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  integration_id uuid,
  name text,
  key_hash bytea not null,
  key_prefix text not null,
  active boolean not null default true,
  last_used_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
);
alter table api_keys add constraint api_keys_key_hash_key UNIQUE (key_hash);
alter table api_keys add constraint api_keys_pkey PRIMARY KEY (id);
alter table api_keys add constraint api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table api_keys add constraint api_keys_project_id_integration_id_fkey FOREIGN KEY (project_id, integration_id) REFERENCES integrations(project_id, id) ON DELETE CASCADE;
CREATE INDEX api_keys_newest ON public.api_keys USING btree (project_id, created_at DESC, id DESC) WHERE (integration_id IS NULL);
CREATE UNIQUE INDEX api_keys_one_of_integration ON public.api_keys USING btree (integration_id) WHERE (integration_id IS NOT NULL);

create table applied_functions (
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default now()
);
alter table applied_functions add constraint applied_functions_pkey PRIMARY KEY (name);

create table audit_logs (
  id uuid not null default gen_random_uuid(),
  project_id uuid,
  actor_type audit_actor not null,
  actor_id uuid,
  actor_key_id text,
  user_id uuid,
  action text not null,
  resource_type text,
  resource_id text,
  ip_address text,
  user_agent text,
  metadata jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null default clock_timestamp()
) partition by RANGE (created_at);
alter table audit_logs add constraint audit_logs_pkey PRIMARY KEY (created_at, id);
CREATE INDEX audit_logs_by_action ON ONLY public.audit_logs USING btree (action, created_at, id) WHERE (created_at > '-infinity'::timestamp with time zone);
CREATE INDEX audit_logs_by_actor ON ONLY public.audit_logs USING btree (actor_type, created_at, id) WHERE (created_at > '-infinity'::timestamp with time zone);
CREATE INDEX audit_logs_of_action ON ONLY public.audit_logs USING btree (project_id, action, created_at, id);
CREATE INDEX audit_logs_of_actor ON ONLY public.audit_logs USING btree (project_id, actor_type, created_at, id);
CREATE INDEX audit_logs_of_project ON ONLY public.audit_logs USING btree (project_id, created_at, id) WHERE (created_at > '-infinity'::timestamp with time zone);
CREATE INDEX audit_logs_of_user ON ONLY public.audit_logs USING btree (user_id, created_at, id) WHERE (user_id IS NOT NULL);
CREATE INDEX audit_logs_of_user_action ON ONLY public.audit_logs USING btree (user_id, action, created_at, id) WHERE (user_id IS NOT NULL);
CREATE TRIGGER audit_logs_immutable BEFORE DELETE OR UPDATE ON public.audit_logs FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_logs_not_truncated BEFORE TRUNCATE ON public.audit_logs FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

create table compression_jobs (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  file_id uuid not null,
  status text not null default 'pending'::text,
  recipe jsonb not null,
  attempts integer not null default 0,
  original_size bigint not null,
  result_sha256 bytea,
  compressed_size bigint,
  format text,
  width integer,
  height integer,
  error text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  claim integer not null default 0,
  alone boolean not null default false,
  deaths_alone integer not null default 0
);
alter table compression_jobs add constraint compression_jobs_pkey PRIMARY KEY (project_id, id);
alter table compression_jobs add constraint compression_jobs_project_id_file_id_key UNIQUE (project_id, file_id);
alter table compression_jobs add constraint compression_jobs_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table compression_jobs add constraint compression_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'done'::text, 'failed'::text])));
CREATE INDEX compression_jobs_of_status ON public.compression_jobs USING btree (status) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text, 'failed'::text]));
CREATE INDEX compression_jobs_waiting ON public.compression_jobs USING btree (project_id) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));
CREATE TRIGGER jobs_added_or_gone AFTER INSERT OR DELETE ON public.compression_jobs FOR EACH ROW EXECUTE FUNCTION note_job();
CREATE TRIGGER jobs_changed AFTER UPDATE OF status ON public.compression_jobs FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION note_job();

create table daily_stats (
  project_id uuid not null,
  subject_id uuid not null,
  day date not null,
  requests bigint not null default 0,
  errors bigint not null default 0,
  uploads bigint not null default 0,
  downloads bigint not null default 0,
  deletes bigint not null default 0,
  bytes_in bigint not null default 0
);
alter table daily_stats add constraint daily_stats_pkey PRIMARY KEY (project_id, subject_id, day);
alter table daily_stats add constraint daily_stats_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
CREATE INDEX daily_stats_of_projects ON public.daily_stats USING btree (day) WHERE (subject_id = project_id);
CREATE INDEX daily_stats_to_purge ON public.daily_stats USING btree (day) WHERE (subject_id <> project_id);

create table event_feed (
  only_row boolean not null default true,
  id uuid not null default gen_random_uuid(),
  system text not null
);
alter table event_feed add constraint event_feed_only_row_check CHECK (only_row);
alter table event_feed add constraint event_feed_pkey PRIMARY KEY (only_row);

create table events (
  slot smallint not null default event_slot(now()),
  project_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  number bigint not null default nextval('event_numbers'::regclass),
  id uuid not null default gen_random_uuid(),
  type text not null,
  user_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  data text not null
) partition by LIST (slot);
CREATE INDEX events_by_age ON ONLY public.events USING brin (created_at) WITH (autosummarize='on');
CREATE INDEX events_in_order ON ONLY public.events USING btree (project_id, xid, number);

create table file_names (
  project_id uuid not null,
  user_id uuid not null,
  space_id uuid,
  file_id uuid not null,
  folder_hash uuid not null,
  name_key text collate "C" not null,
  size bigint not null,
  sha256 bytea,
  created_at timestamp(3) with time zone not null
);
alter table file_names add constraint file_names_pkey PRIMARY KEY (project_id, file_id);
CREATE INDEX file_names_by_name ON public.file_names USING btree (user_id, name_key, file_id) WITH (deduplicate_items=off);
CREATE INDEX file_names_by_sha256 ON public.file_names USING btree (user_id, sha256, file_id) WITH (deduplicate_items=off);
CREATE INDEX file_names_by_size ON public.file_names USING btree (user_id, size, file_id) INCLUDE (name_key) WITH (deduplicate_items=off);
CREATE INDEX file_names_by_text ON public.file_names USING gin (user_id, name_key gin_trgm_ops);
CREATE INDEX file_names_by_time ON public.file_names USING btree (user_id, created_at, file_id) INCLUDE (name_key, size) WITH (deduplicate_items=off);
CREATE INDEX file_names_in_folder_by_name ON public.file_names USING btree (user_id, folder_hash, name_key, file_id) WITH (deduplicate_items=off);
CREATE INDEX file_names_in_folder_by_size ON public.file_names USING btree (user_id, folder_hash, size, file_id) INCLUDE (name_key) WITH (deduplicate_items=off);
CREATE INDEX file_names_in_folder_by_time ON public.file_names USING btree (user_id, folder_hash, created_at, file_id) INCLUDE (name_key) WITH (deduplicate_items=off);
CREATE INDEX file_names_in_space_by_name ON public.file_names USING btree (space_id, name_key, file_id) WITH (deduplicate_items=off) WHERE (space_id IS NOT NULL);
CREATE INDEX file_names_in_space_by_size ON public.file_names USING btree (space_id, size, file_id) WITH (deduplicate_items=off) WHERE (space_id IS NOT NULL);
CREATE INDEX file_names_in_space_by_time ON public.file_names USING btree (space_id, created_at, file_id) WITH (deduplicate_items=off) WHERE (space_id IS NOT NULL);

create table file_tags (
  project_id uuid not null,
  user_id uuid not null,
  tag text collate "C" not null,
  created_at timestamp(3) with time zone not null,
  id uuid not null
);
alter table file_tags add constraint file_tags_pkey PRIMARY KEY (project_id, user_id, tag, created_at, id);

create table files (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  space_id uuid,
  name text not null,
  size bigint not null,
  mime_type text collate "C" not null,
  storage_key text not null,
  folder text collate "C" not null default ''::text,
  tags text[] storage external not null default '{}'::text[],
  classifier text,
  metadata jsonb storage external not null default '{}'::jsonb,
  visibility text not null default 'private'::text,
  zone text not null default 'private'::text,
  sha256 bytea,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  view text storage external,
  expires_at timestamp(3) with time zone,
  retain_until timestamp(3) with time zone,
  crc32 bigint
);
alter table files add constraint files_pkey PRIMARY KEY (project_id, id);
alter table files add constraint files_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES users(project_id, id) ON DELETE CASCADE;
alter table files add constraint files_project_id_user_id_space_id_fkey FOREIGN KEY (project_id, user_id, space_id) REFERENCES spaces(project_id, user_id, id);
alter table files add constraint files_size_check CHECK ((size >= 0));
alter table files add constraint files_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'public'::text])));
alter table files add constraint files_zone_check CHECK ((zone = ANY (ARRAY['private'::text, 'public'::text])));
CREATE INDEX files_by_time ON public.files USING btree (project_id, user_id, (((space_id IS NULL))::integer), created_at, id) WITH (deduplicate_items=off);
CREATE INDEX files_held ON public.files USING btree (project_id, user_id, retain_until) WHERE (retain_until IS NOT NULL);
CREATE INDEX files_of_classifier ON public.files USING btree (user_id, classifier, created_at, id) WITH (deduplicate_items=off) WHERE (classifier IS NOT NULL);
CREATE INDEX files_of_folder ON public.files USING btree (user_id, translate(folder, '/'::text, ''::text), created_at, id) WITH (deduplicate_items=off);
CREATE INDEX files_of_mime_type ON public.files USING btree (user_id, mime_type, created_at, id) WITH (deduplicate_items=off);
CREATE INDEX files_of_space ON public.files USING btree (space_id, created_at, id) WITH (deduplicate_items=off) WHERE (space_id IS NOT NULL);
CREATE INDEX files_of_space_folder ON public.files USING btree (space_id, translate(folder, '/'::text, ''::text), created_at, id) WITH (deduplicate_items=off) WHERE (space_id IS NOT NULL);
CREATE INDEX files_public ON public.files USING btree (user_id, created_at, id) WITH (deduplicate_items=off) WHERE (visibility = 'public'::text);
CREATE INDEX files_to_expire ON public.files USING btree (GREATEST(expires_at, retain_until)) WHERE (expires_at IS NOT NULL);
CREATE INDEX files_to_hide ON public.files USING btree (id) WITH (deduplicate_items=off) WHERE ((visibility = 'private'::text) AND (zone = 'public'::text));
CREATE INDEX files_to_move ON public.files USING btree (id) WITH (deduplicate_items=off) WHERE (visibility <> zone);
CREATE INDEX files_to_read ON public.files USING btree (project_id, id) WITH (deduplicate_items=off) WHERE ((sha256 IS NULL) OR (crc32 IS NULL));
CREATE TRIGGER files_added AFTER INSERT ON public.files REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_files_added();
CREATE TRIGGER files_changed AFTER UPDATE OF project_id, visibility, mime_type, classifier, size ON public.files FOR EACH ROW WHEN ((((((old.project_id IS DISTINCT FROM new.project_id) OR (old.visibility IS DISTINCT FROM new.visibility)) OR (old.mime_type IS DISTINCT FROM new.mime_type)) OR (old.classifier IS DISTINCT FROM new.classifier)) OR (old.size IS DISTINCT FROM new.size))) EXECUTE FUNCTION note_file_changed();
CREATE TRIGGER files_drop_jobs AFTER DELETE ON public.files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_jobs();
CREATE TRIGGER files_drop_shares AFTER DELETE ON public.files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_shares();
CREATE TRIGGER files_gone AFTER DELETE ON public.files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_files_gone();
CREATE TRIGGER files_named AFTER INSERT ON public.files REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_file_names();
CREATE TRIGGER files_renamed AFTER UPDATE OF user_id, space_id, folder, name, size, sha256 ON public.files FOR EACH ROW WHEN ((((((((old.user_id IS DISTINCT FROM new.user_id) OR (old.space_id IS DISTINCT FROM new.space_id)) OR (old.folder IS DISTINCT FROM new.folder)) OR (old.name IS DISTINCT FROM new.name)) OR (old.size IS DISTINCT FROM new.size)) OR (old.sha256 IS DISTINCT FROM new.sha256)) AND (current_setting('pakhus.names_unsearched'::text, true) IS DISTINCT FROM 'yes'::text))) EXECUTE FUNCTION keep_file_names();
CREATE TRIGGER files_retagged AFTER UPDATE OF project_id, user_id, tags, created_at ON public.files FOR EACH ROW WHEN (((((old.project_id IS DISTINCT FROM new.project_id) OR (old.user_id IS DISTINCT FROM new.user_id)) OR (old.tags IS DISTINCT FROM new.tags)) OR (old.created_at IS DISTINCT FROM new.created_at))) EXECUTE FUNCTION keep_file_tags();
CREATE TRIGGER files_reviewed BEFORE UPDATE ON public.files FOR EACH ROW WHEN ((NOT (old.view IS DISTINCT FROM new.view))) EXECUTE FUNCTION write_file_view();
CREATE TRIGGER files_tagged AFTER INSERT ON public.files REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_file_tags();
CREATE TRIGGER files_unnamed AFTER DELETE ON public.files REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_file_names();
CREATE TRIGGER files_untagged AFTER DELETE ON public.files REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_file_tags();
CREATE TRIGGER files_viewed BEFORE INSERT ON public.files FOR EACH ROW EXECUTE FUNCTION write_file_view();

create table folded_batches (
  id text not null,
  folded_at timestamp(3) with time zone not null default now()
);
alter table folded_batches add constraint folded_batches_pkey PRIMARY KEY (id);
CREATE INDEX folded_batches_age ON public.folded_batches USING btree (folded_at);

create table idempotency_keys (
  owner_id uuid not null,
  id bytea not null,
  content bytea not null,
  authority jsonb not null,
  status smallint not null,
  answer bytea not null,
  key_id text not null,
  created_at timestamp(3) with time zone not null default now()
);
alter table idempotency_keys add constraint idempotency_keys_pkey PRIMARY KEY (owner_id, id);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

create table integrations (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  name text,
  scopes text[] not null default '{}'::text[],
  cors_origins text[] not null default '{}'::text[],
  dev_mode boolean not null default false,
  rate_limit_max bigint,
  rate_limit_window bigint,
  active boolean not null default true,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
);
alter table integrations add constraint integrations_pkey PRIMARY KEY (id);
alter table integrations add constraint integrations_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table integrations add constraint integrations_project_id_id_key UNIQUE (project_id, id);
alter table integrations add constraint integrations_rate_limit_max_check CHECK ((rate_limit_max >= 1));
alter table integrations add constraint integrations_rate_limit_window_check CHECK ((rate_limit_window >= 1000));
CREATE INDEX integrations_newest ON public.integrations USING btree (project_id, created_at DESC, id DESC);

create table login_challenges (
  jti uuid not null,
  account_id uuid not null,
  failures smallint not null default 0,
  expires_at timestamp(3) with time zone not null
);
alter table login_challenges add constraint login_challenges_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table login_challenges add constraint login_challenges_pkey PRIMARY KEY (jti);
CREATE INDEX login_challenges_expiry ON public.login_challenges USING btree (expires_at);
CREATE INDEX login_challenges_of_account ON public.login_challenges USING btree (account_id);

create table migrations (
  name text not null,
  applied_at timestamp with time zone not null default now()
);
alter table migrations add constraint migrations_pkey PRIMARY KEY (name);

create table objects (
  project_id uuid not null,
  file_id uuid not null,
  id uuid not null,
  zone object_zone not null,
  state object_state not null,
  holder uuid,
  held_until timestamp(3) with time zone,
  late_until timestamp(3) with time zone,
  attempts integer not null default 0
);
alter table objects add constraint objects_held_unless_stored CHECK (((((state)::text = 'stored'::text) = (held_until IS NULL)) AND ((holder IS NULL) OR (held_until IS NOT NULL)))) NOT VALID;
alter table objects add constraint objects_pkey PRIMARY KEY (project_id, file_id, id, zone);
CREATE INDEX objects_derived ON public.objects USING btree (project_id, id) WHERE (file_id <> id);
CREATE INDEX objects_held ON public.objects USING btree (held_until) WHERE (held_until IS NOT NULL);

create table password_resets (
  token_hash bytea not null,
  account_id uuid not null,
  expires_at timestamp(3) with time zone not null
);
alter table password_resets add constraint password_resets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table password_resets add constraint password_resets_pkey PRIMARY KEY (token_hash);
CREATE INDEX password_resets_expiry ON public.password_resets USING btree (expires_at);
CREATE INDEX password_resets_of_account ON public.password_resets USING btree (account_id);

create table plans (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  name text not null,
  description text,
  storage_limit bigint,
  max_file_size bigint not null,
  allowed_mimes text[] not null default '{}'::text[],
  is_default boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  max_files bigint,
  max_spaces bigint
);
alter table plans add constraint plans_max_file_size_check CHECK ((max_file_size >= 0));
alter table plans add constraint plans_max_files_check CHECK ((max_files >= 0));
alter table plans add constraint plans_max_spaces_check CHECK ((max_spaces >= 0));
alter table plans add constraint plans_pkey PRIMARY KEY (id);
alter table plans add constraint plans_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table plans add constraint plans_project_id_id_key UNIQUE (project_id, id);
alter table plans add constraint plans_storage_limit_check CHECK ((storage_limit >= 0));
CREATE INDEX plans_newest ON public.plans USING btree (project_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX plans_one_default ON public.plans USING btree (project_id) WHERE is_default;

create table projects (
  id uuid not null default gen_random_uuid(),
  name text not null,
  active boolean not null default true,
  rate_limit_max bigint,
  rate_limit_window bigint,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  listens_until timestamp with time zone,
  trash_days day_count not null default 0,
  searches_since timestamp with time zone,
  search_position uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  searchable boolean not null default false
);
alter table projects add constraint projects_pkey PRIMARY KEY (id);
alter table projects add constraint projects_rate_limit_max_check CHECK ((rate_limit_max >= 1));
alter table projects add constraint projects_rate_limit_window_check CHECK ((rate_limit_window >= 1000));
CREATE INDEX projects_newest ON public.projects USING btree (created_at DESC, id DESC);
CREATE INDEX projects_to_index ON public.projects USING btree (id) WHERE ((searches_since IS NOT NULL) AND (NOT searchable));

create table recovery_codes (
  account_id uuid not null,
  code_hash bytea not null
);
alter table recovery_codes add constraint recovery_codes_account_id_fkey FOREIGN KEY (account_id) REFERENCES two_factors(account_id) ON DELETE CASCADE;
alter table recovery_codes add constraint recovery_codes_pkey PRIMARY KEY (account_id, code_hash);

create table retired_recipes (
  project_id uuid not null,
  recipe_id uuid not null
);
alter table retired_recipes add constraint retired_recipes_pkey PRIMARY KEY (project_id, recipe_id);
alter table retired_recipes add constraint retired_recipes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;

create table revoked_tokens (
  jti uuid not null,
  subject_id uuid not null,
  expires_at timestamp(3) with time zone not null
);
alter table revoked_tokens add constraint revoked_tokens_pkey PRIMARY KEY (jti, subject_id);
CREATE INDEX revoked_tokens_expiry ON public.revoked_tokens USING btree (expires_at);

create table schedules (
  name text not null,
  due_at timestamp with time zone not null
);
alter table schedules add constraint schedules_pkey PRIMARY KEY (name);

create table sessions (
  jti uuid not null,
  account_id uuid not null,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null default now()
);
alter table sessions add constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table sessions add constraint sessions_pkey PRIMARY KEY (jti);
CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_of_account ON public.sessions USING btree (account_id);

create table settings (
  key text not null,
  value jsonb not null,
  updated_at timestamp(3) with time zone not null default now()
);
alter table settings add constraint settings_pkey PRIMARY KEY (key);

create table shares (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  file_id uuid not null,
  token_hash bytea not null,
  name text,
  password_hash text,
  expires_at timestamp(3) with time zone,
  max_downloads integer,
  downloads integer not null default 0,
  last_used_at timestamp(3) with time zone,
  active boolean not null default true,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
);
alter table shares add constraint shares_max_downloads_check CHECK ((max_downloads >= 1));
alter table shares add constraint shares_pkey PRIMARY KEY (project_id, id);
alter table shares add constraint shares_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table shares add constraint shares_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES users(project_id, id) ON DELETE CASCADE;
alter table shares add constraint shares_token_hash_check CHECK ((octet_length(token_hash) = 32));
CREATE INDEX shares_of_file ON public.shares USING btree (project_id, file_id, created_at, id);
CREATE UNIQUE INDEX shares_of_token ON public.shares USING btree (token_hash);
CREATE INDEX shares_of_user ON public.shares USING btree (project_id, user_id, created_at, id);

create table spaces (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  user_id uuid not null,
  external_id text not null,
  name text not null,
  scopes text[] not null default '{}'::text[],
  limit_bytes bigint,
  used_bytes bigint not null default 0,
  file_count bigint not null default 0,
  active boolean not null default true,
  password_hash text,
  session_jti uuid,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  password_scopes text[],
  reserved_bytes byte_count not null default 0
);
alter table spaces add constraint spaces_external_id_unique UNIQUE (project_id, external_id);
alter table spaces add constraint spaces_file_count_check CHECK ((file_count >= 0));
alter table spaces add constraint spaces_limit_bytes_check CHECK ((limit_bytes >= 0));
alter table spaces add constraint spaces_pkey PRIMARY KEY (id);
alter table spaces add constraint spaces_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table spaces add constraint spaces_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES users(project_id, id) ON DELETE CASCADE;
alter table spaces add constraint spaces_project_id_user_id_id_key UNIQUE (project_id, user_id, id);
alter table spaces add constraint spaces_used_bytes_check CHECK ((used_bytes >= 0));
CREATE INDEX spaces_newest ON public.spaces USING btree (project_id, user_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX spaces_of_session ON public.spaces USING btree (session_jti) WHERE (session_jti IS NOT NULL);

create table stat_deltas (
  project_id uuid not null,
  dimension text not null,
  value text collate "C" not null default ''::text,
  count bigint not null,
  bytes bigint not null
);
CREATE INDEX stat_deltas_of_project ON public.stat_deltas USING btree (project_id, dimension);

create table stat_totals (
  project_id uuid not null,
  dimension text not null,
  value text collate "C" not null default ''::text,
  count bigint not null,
  bytes bigint not null
);
alter table stat_totals add constraint stat_totals_pkey PRIMARY KEY (project_id, dimension, value);
CREATE INDEX stat_totals_empty ON public.stat_totals USING btree (project_id) WHERE ((count = 0) AND (bytes = 0));
CREATE INDEX stat_totals_largest ON public.stat_totals USING btree (project_id, dimension, count DESC, value);
CREATE INDEX stat_totals_of_installation ON public.stat_totals USING btree (dimension) WHERE (dimension = ANY (ARRAY['users'::text, 'visibility'::text, 'jobs'::text]));
CREATE INDEX stat_totals_of_variants ON public.stat_totals USING btree (project_id) WHERE (dimension = 'variants'::text);

create table trashed_files (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  space_id uuid,
  name text not null,
  size bigint not null,
  mime_type text collate "C" not null,
  storage_key text not null,
  folder text collate "C" not null,
  tags text[] not null,
  classifier text,
  metadata jsonb not null,
  visibility text not null,
  zone text not null,
  sha256 bytea,
  crc32 bigint,
  expires_at timestamp(3) with time zone,
  retain_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  view text not null,
  trashed_at timestamp(3) with time zone not null default now()
);
alter table trashed_files add constraint trashed_files_pkey PRIMARY KEY (project_id, id);
alter table trashed_files add constraint trashed_files_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES users(project_id, id) ON DELETE CASCADE;
alter table trashed_files add constraint trashed_files_project_id_user_id_space_id_fkey FOREIGN KEY (project_id, user_id, space_id) REFERENCES spaces(project_id, user_id, id);
CREATE INDEX trashed_files_newest ON public.trashed_files USING btree (project_id, user_id, trashed_at, id);
CREATE INDEX trashed_files_of_space ON public.trashed_files USING btree (space_id, trashed_at, id) WHERE (space_id IS NOT NULL);
CREATE INDEX trashed_files_to_hide ON public.trashed_files USING btree (id) WHERE (zone = 'public'::text);
CREATE INDEX trashed_files_to_purge ON public.trashed_files USING btree (project_id, trashed_at);
CREATE TRIGGER files_trashed AFTER INSERT ON public.trashed_files REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_trash();
CREATE TRIGGER files_untrashed AFTER DELETE ON public.trashed_files REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_trash();
CREATE TRIGGER trashed_files_drop_jobs AFTER DELETE ON public.trashed_files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_jobs();
CREATE TRIGGER trashed_files_drop_shares AFTER DELETE ON public.trashed_files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_shares();

create table two_factors (
  account_id uuid not null,
  key_id text not null,
  sealed_secret bytea not null,
  activated_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now()
);
alter table two_factors add constraint two_factors_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
alter table two_factors add constraint two_factors_pkey PRIMARY KEY (account_id);
CREATE INDEX two_factors_of_key ON public.two_factors USING btree (key_id);

create table upload_parts (
  project_id uuid not null,
  upload_id uuid not null,
  number integer not null,
  etag text not null
);
alter table upload_parts add constraint upload_parts_pkey PRIMARY KEY (project_id, upload_id, number);
alter table upload_parts add constraint upload_parts_project_id_upload_id_fkey FOREIGN KEY (project_id, upload_id) REFERENCES uploads(project_id, id) ON DELETE CASCADE;

create table uploads (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  space_id uuid,
  mode text not null,
  status text not null default 'uploading'::text,
  token_hash bytea,
  integration_id uuid,
  key_id uuid,
  jti uuid,
  actor_type text not null,
  actor_id uuid,
  actor_key_id text,
  name text not null,
  mime_type text collate "C" not null,
  folder text collate "C" not null,
  tags text[] not null,
  classifier text,
  metadata jsonb not null,
  visibility text not null,
  sha256 bytea,
  size bigint,
  received bigint not null default 0,
  reserved bigint not null,
  epoch integer not null default 0,
  receiving boolean not null default false,
  object_id uuid,
  zone text not null,
  state jsonb,
  tail_id uuid,
  file_id uuid,
  error jsonb,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  file_expires_at timestamp(3) with time zone,
  file_retain_until timestamp(3) with time zone
);
alter table uploads add constraint uploads_mode_check CHECK ((mode = ANY (ARRAY['resumable'::text, 'direct'::text])));
alter table uploads add constraint uploads_pkey PRIMARY KEY (project_id, id);
alter table uploads add constraint uploads_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table uploads add constraint uploads_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES users(project_id, id) ON DELETE CASCADE;
alter table uploads add constraint uploads_received_check CHECK ((received >= 0));
alter table uploads add constraint uploads_reserved_check CHECK ((reserved >= 0));
alter table uploads add constraint uploads_size_check CHECK ((size >= 0));
alter table uploads add constraint uploads_status_check CHECK ((status = ANY (ARRAY['uploading'::text, 'completed'::text, 'failed'::text, 'expired'::text, 'cancelled'::text])));
alter table uploads add constraint uploads_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'public'::text])));
alter table uploads add constraint uploads_zone_check CHECK ((zone = ANY (ARRAY['private'::text, 'public'::text])));
CREATE INDEX uploads_ended ON public.uploads USING btree (updated_at) WHERE (status <> 'uploading'::text);
CREATE INDEX uploads_expiry ON public.uploads USING btree (expires_at) WHERE (status = 'uploading'::text);
CREATE INDEX uploads_newest ON public.uploads USING btree (project_id, user_id, created_at, id);
CREATE UNIQUE INDEX uploads_of_token ON public.uploads USING btree (token_hash);
CREATE INDEX uploads_unfinished ON public.uploads USING btree (project_id, user_id, space_id) WHERE (status = 'uploading'::text);

create table usage_days (
  project_id uuid not null,
  user_id uuid not null,
  date date not null,
  until date not null,
  bytes_max bigint not null,
  bytes_end bigint not null,
  uploads bigint not null,
  bytes_in bigint not null,
  is_last boolean not null default false
);
alter table usage_days add constraint usage_days_pkey PRIMARY KEY (project_id, user_id, date);
alter table usage_days add constraint usage_days_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
CREATE INDEX usage_days_of_deleted ON public.usage_days USING btree (project_id, user_id) WHERE is_last;
CREATE INDEX usage_days_until ON public.usage_days USING btree (until);

create table usage_downloads (
  project_id uuid not null,
  user_id uuid not null,
  date date not null,
  downloads bigint not null
);
alter table usage_downloads add constraint usage_downloads_pkey PRIMARY KEY (project_id, user_id, date);
alter table usage_downloads add constraint usage_downloads_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
CREATE INDEX usage_downloads_date ON public.usage_downloads USING btree (date);

create table used_totp_steps (
  account_id uuid not null,
  step bigint not null
);
alter table used_totp_steps add constraint used_totp_steps_account_id_fkey FOREIGN KEY (account_id) REFERENCES two_factors(account_id) ON DELETE CASCADE;
alter table used_totp_steps add constraint used_totp_steps_pkey PRIMARY KEY (account_id, step);
CREATE INDEX used_totp_steps_age ON public.used_totp_steps USING btree (step);

create table users (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  external_id text not null,
  plan_id uuid,
  active boolean not null default true,
  used_bytes bigint not null default 0,
  file_count bigint not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  usage_bucket integer not null default usage_bucket(used_bytes),
  reserved_bytes byte_count not null default 0,
  usage_day date not null default ((now() AT TIME ZONE 'UTC'::text))::date,
  day_peak_bytes bigint,
  day_base_bytes bigint,
  day_base_files bigint
);
alter table users add constraint users_external_id_unique UNIQUE (project_id, external_id);
alter table users add constraint users_file_count_check CHECK ((file_count >= 0));
alter table users add constraint users_pkey PRIMARY KEY (id);
alter table users add constraint users_plan FOREIGN KEY (project_id, plan_id) REFERENCES plans(project_id, id);
alter table users add constraint users_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table users add constraint users_project_id_id_key UNIQUE (project_id, id);
alter table users add constraint users_used_bytes_check CHECK ((used_bytes >= 0));
CREATE INDEX users_by_external_id ON public.users USING btree (project_id, lower(external_id) COLLATE "C", id);
CREATE INDEX users_newest ON public.users USING btree (project_id, created_at DESC, id DESC);
CREATE INDEX users_of_plan ON public.users USING btree (project_id, plan_id, usage_bucket);
CREATE TRIGGER users_added AFTER INSERT ON public.users REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_users();
CREATE TRIGGER users_gone AFTER DELETE ON public.users REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_users();
CREATE TRIGGER users_last_usage BEFORE DELETE ON public.users FOR EACH ROW WHEN (((old.day_base_files IS NOT NULL) OR (old.file_count > 0))) EXECUTE FUNCTION keep_usage();
CREATE TRIGGER users_usage BEFORE UPDATE OF used_bytes, file_count ON public.users FOR EACH ROW WHEN (((new.file_count < old.file_count) OR (new.used_bytes < old.used_bytes) OR (old.day_base_files IS NULL) OR (old.usage_day < ((clock_timestamp() AT TIME ZONE 'UTC'::text))::date))) EXECUTE FUNCTION keep_usage();

create table variant_images (
  project_id uuid not null,
  file_id uuid not null,
  recipe_id uuid not null,
  state text not null default 'pending'::text,
  content_sha256 bytea,
  claim integer not null default 0,
  attempts integer not null default 0,
  queued_at timestamp(3) with time zone not null default now(),
  object_id uuid,
  bytes bigint,
  width integer,
  height integer,
  sha256 bytea,
  store text,
  made_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  failure text,
  error text,
  retry_at timestamp(3) with time zone
);
alter table variant_images add constraint variant_images_check CHECK (((state = 'ready'::text) = ((object_id IS NOT NULL) AND (bytes IS NOT NULL))));
alter table variant_images add constraint variant_images_check1 CHECK (((state = 'failed'::text) = (failure IS NOT NULL)));
alter table variant_images add constraint variant_images_failure_check CHECK ((failure = ANY (ARRAY['refused'::text, 'fault'::text, 'outage'::text])));
alter table variant_images add constraint variant_images_pkey PRIMARY KEY (project_id, file_id, recipe_id);
alter table variant_images add constraint variant_images_project_id_file_id_fkey FOREIGN KEY (project_id, file_id) REFERENCES files(project_id, id) ON DELETE CASCADE;
alter table variant_images add constraint variant_images_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'making'::text, 'ready'::text, 'failed'::text])));
CREATE INDEX variant_images_by_use ON public.variant_images USING btree (project_id, last_used_at) WHERE (state = 'ready'::text);
CREATE INDEX variant_images_of_recipe ON public.variant_images USING btree (project_id, recipe_id);
CREATE INDEX variant_images_unfinished ON public.variant_images USING btree (project_id) WHERE (state = ANY (ARRAY['pending'::text, 'making'::text]));
CREATE TRIGGER variant_images_changed AFTER UPDATE OF object_id ON public.variant_images FOR EACH ROW WHEN ((old.object_id IS DISTINCT FROM new.object_id)) EXECUTE FUNCTION drop_variant_object();
CREATE TRIGGER variant_images_gone AFTER DELETE ON public.variant_images FOR EACH ROW WHEN ((old.object_id IS NOT NULL)) EXECUTE FUNCTION drop_variant_object();

create table variants (
  project_id uuid not null,
  name text collate "C" not null,
  recipe_id uuid not null,
  version integer not null default 1,
  format text not null,
  quality integer not null,
  width integer,
  height integer,
  fit text not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
);
alter table variants add constraint variants_fit_check CHECK ((fit = ANY (ARRAY['inside'::text, 'cover'::text])));
alter table variants add constraint variants_format_check CHECK ((format = ANY (ARRAY['webp'::text, 'jpeg'::text, 'png'::text, 'avif'::text])));
alter table variants add constraint variants_pkey PRIMARY KEY (project_id, name);
alter table variants add constraint variants_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table variants add constraint variants_project_id_recipe_id_key UNIQUE (project_id, recipe_id);

create table webhook_deliveries (
  slot smallint not null,
  project_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  event_xid xid8,
  event_number bigint,
  type text not null,
  status delivery_status not null,
  attempts integer not null,
  response_status integer,
  response_body text,
  duration_ms integer,
  error text,
  created_at timestamp(3) with time zone not null,
  next_try_at timestamp(3) with time zone
) partition by LIST (slot);
CREATE INDEX webhook_deliveries_due ON ONLY public.webhook_deliveries USING btree (project_id, webhook_id, next_try_at) WHERE (next_try_at IS NOT NULL);
CREATE INDEX webhook_deliveries_newest ON ONLY public.webhook_deliveries USING btree (project_id, webhook_id, id);
CREATE INDEX webhook_deliveries_troubled ON ONLY public.webhook_deliveries USING btree (project_id, webhook_id, id) WHERE ((status)::text <> 'succeeded'::text);

create table webhook_secrets (
  project_id uuid not null,
  webhook_id uuid not null,
  id uuid not null default gen_random_uuid(),
  key_id text not null,
  sealed_secret bytea not null,
  created_at timestamp(3) with time zone not null default clock_timestamp(),
  expires_at timestamp(3) with time zone
);
alter table webhook_secrets add constraint webhook_secrets_pkey PRIMARY KEY (project_id, webhook_id, id);
alter table webhook_secrets add constraint webhook_secrets_project_id_webhook_id_fkey FOREIGN KEY (project_id, webhook_id) REFERENCES webhooks(project_id, id) ON DELETE CASCADE;
CREATE UNIQUE INDEX webhook_secrets_current ON public.webhook_secrets USING btree (project_id, webhook_id) WHERE (expires_at IS NULL);

create table webhooks (
  project_id uuid not null,
  id uuid not null,
  url text not null,
  types text[],
  active boolean not null default true,
  disabled_reason text,
  failing_since timestamp(3) with time zone,
  failures integer not null default 0,
  rest_until timestamp(3) with time zone,
  feed_id uuid not null,
  position_xid xid8 not null,
  position_number bigint not null,
  position_since text,
  lease_token uuid,
  lease_until timestamp with time zone,
  due_at timestamp with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now()
);
alter table webhooks add constraint webhooks_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['gone'::text, 'failing'::text])));
alter table webhooks add constraint webhooks_pkey PRIMARY KEY (project_id, id);
alter table webhooks add constraint webhooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
CREATE INDEX webhooks_due ON public.webhooks USING btree (due_at) WHERE (due_at IS NOT NULL);

create type new_file as (
  id uuid,
  project_id uuid,
  user_id uuid,
  space_id uuid,
  name text,
  size bigint,
  mime_type text,
  storage_key text,
  folder text,
  tags text[],
  classifier text,
  metadata jsonb,
  visibility text,
  zone text,
  sha256 bytea,
  created_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  retain_until timestamp(3) with time zone,
  crc32 bigint
);

create domain audit_actor as text CHECK ((VALUE = ANY (ARRAY['admin'::text, 'project'::text, 'integration'::text]))) NOT VALID;

create domain byte_count as bigint CHECK ((VALUE >= 0)) NOT VALID;

create domain day_count as smallint CHECK (((VALUE >= 0) AND (VALUE <= 365))) NOT VALID;

create domain delivery_status as text CHECK ((VALUE = ANY (ARRAY['pending'::text, 'succeeded'::text, 'retrying'::text, 'failed'::text])));

create domain object_state as text CHECK ((VALUE = ANY (ARRAY['reserved'::text, 'writing'::text, 'stored'::text, 'moving'::text, 'rewriting'::text, 'deleting'::text]))) NOT VALID;

create domain object_zone as text CHECK ((VALUE = ANY (ARRAY['private'::text, 'public'::text]))) NOT VALID;

CREATE OR REPLACE FUNCTION public.advance_upload(project uuid, upload_id uuid, at_epoch integer, bytes bigint, whole_size bigint, new_state jsonb, etags text[], last_part integer, tail uuid, state_tail uuid, is_last boolean, seconds double precision, OUT outcome text, OUT expires_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  upload record;
  more bigint;
  owner record;
  space record;
begin
  select u.user_id, u.space_id, u.size, u.reserved into upload
    from uploads u where u.project_id = project and u.id = upload_id;
  more := coalesce(upload.size, whole_size, bytes) - upload.reserved;
  if more > 0 then
    -- The user before the upload: see the order of locks in the baseline.
    perform from users u where u.project_id = project and u.id = upload.user_id for no key update;
    select u.used_bytes + u.reserved_bytes + more as wanted, p.storage_limit into owner
      from users u left join plans p on p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default))
      where u.project_id = project and u.id = upload.user_id;
    select s.used_bytes + s.reserved_bytes + more as wanted, s.limit_bytes into space
      from spaces s where s.project_id = project and s.id = upload.space_id for no key update;
  end if;
  select u.user_id, u.space_id, u.object_id, u.tail_id into upload from uploads u
    where u.project_id = project and u.id = upload_id and u.epoch = at_epoch and u.status = 'uploading' for no key update;
  if not found then
    perform drop_upload_objects(project, tail);
    outcome := 'taken';
    return;
  end if;
  if more > 0 then
    if owner.wanted > owner.storage_limit then outcome := 'user limit'; end if;
    if space.wanted > space.limit_bytes then outcome := 'space limit'; end if;
    if outcome is not null then
      if is_last then perform drop_upload_objects(project, tail); end if;
      return;
    end if;
    perform reserve_bytes(project, upload.user_id, upload.space_id, more);
  end if;
  insert into upload_parts (project_id, upload_id, number, etag)
    select project, advance_upload.upload_id, last_part - cardinality(etags) + part.number, part.etag
    from unnest(etags) with ordinality part(etag, number)
    on conflict on constraint upload_parts_pkey do update set etag = excluded.etag;
  if upload.tail_id is distinct from state_tail then perform drop_upload_objects(project, upload.tail_id); end if;
  if is_last and tail is distinct from state_tail then perform drop_upload_objects(project, tail); end if;
  expires_at := now() + make_interval(secs => seconds);
  update uploads u set received = bytes, size = coalesce(u.size, whole_size), reserved = u.reserved + greatest(more, 0),
      state = new_state, tail_id = state_tail, receiving = not is_last,
      expires_at = advance_upload.expires_at, updated_at = now()
    where u.project_id = project and u.id = advance_upload.upload_id;
  -- Rarely: the hold outlives the upload by an hour.
  update objects o set held_until = advance_upload.expires_at + interval '2 hours'
    where o.project_id = project and o.id = o.file_id and o.file_id in (upload.object_id, tail, state_tail)
      and o.state = 'writing' and o.held_until < advance_upload.expires_at + interval '1 hour';
  outcome := 'moved';
end $function$;

CREATE OR REPLACE FUNCTION public.announce_audit_bound()
 RETURNS text
 LANGUAGE plpgsql
 SET lock_timeout TO '100ms'
 SET "DateStyle" TO 'ISO'
AS $function$
begin
  if (select p.lower >= audit_bound() from audit_partitions() p where p.upper = 'infinity') then
    return 'covered';
  elsif not exists (select from audit_logs_later where created_at < audit_bound())
    or exists (select from audit_logs_later where created_at >= audit_bound()) then
    return 'ready';
  end if;
  alter table audit_logs_later drop constraint if exists audit_logs_closing;
  execute format('alter table audit_logs_later add constraint audit_logs_closing check (created_at < %L) not valid',
    audit_bound());
  return 'unchecked';
end $function$;

CREATE OR REPLACE FUNCTION public.attach_audit_partition(name text, lower timestamp with time zone, upper timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET "DateStyle" TO 'ISO'
AS $function$
begin
  if to_regclass(quote_ident(name)) is null then
    execute format('create table %I (like audit_logs including defaults including constraints including storage)', name);
    -- Triggers for rows come with the partitioned table, those for statements do not.
    execute format('create trigger audit_logs_not_truncated before truncate on %I
      for each statement execute function refuse_audit_change()', name);
  end if;
  execute format('alter table audit_logs attach partition %I for values from (%s) to (%s)', name,
    case when lower = '-infinity' then 'minvalue' else quote_literal(lower) end,
    case when upper = 'infinity' then 'maxvalue' else quote_literal(upper) end);
end $function$;

CREATE OR REPLACE FUNCTION public.audit_bound()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select (date_trunc('month', (now() + interval '14 days') at time zone 'UTC') + interval '1 month') at time zone 'UTC'
$function$;

CREATE OR REPLACE FUNCTION public.audit_page(of_project uuid, by_user uuid, by_action text, by_actor text, since timestamp with time zone, until timestamp with time zone, before_time timestamp with time zone, before_id uuid, rows_max integer)
 RETURNS TABLE(id uuid, project_id uuid, actor_type audit_actor, actor_id uuid, actor_key_id text, user_id uuid, action text, resource_type text, resource_id text, ip_address text, user_agent text, metadata jsonb, created_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
#variable_conflict use_column
begin
  -- All rows of a user are of one project. Without this, the rows of a user of another project would all be read, and skipped.
  if of_project is not null and by_user is not null and of_project is distinct from (
    select project_id from audit_logs where user_id = by_user and user_id between by_user and by_user and project_id is not null
    order by created_at desc, id desc limit 1) then
    return;
  end if;
  -- One bound, in two forms: PostgreSQL finds its first row by either of them, and leaves out partitions only by the simple one.
  if until < before_time then
    before_time := until;
    before_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end if;
  if by_user is not null and by_action is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where user_id = by_user and user_id between by_user and by_user and (of_project is null or project_id = of_project)
        and action = by_action and action between by_action and by_action
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif by_user is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where user_id = by_user and user_id between by_user and by_user and (of_project is null or project_id = of_project)
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif of_project is null and by_action is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where action = by_action and action between by_action and by_action and created_at > '-infinity'
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif of_project is null and by_actor is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where actor_type = by_actor and actor_type between by_actor and by_actor and created_at > '-infinity'
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif of_project is null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif by_action is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where project_id = of_project and action = by_action and action between by_action and by_action
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  elsif by_actor is not null then
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where project_id = of_project and actor_type = by_actor and actor_type between by_actor and by_actor
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  else
    return query
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address, user_agent,
        metadata, created_at from audit_logs
      where project_id = of_project and project_id between of_project and of_project and created_at > '-infinity'
        and created_at >= since and created_at <= before_time and (created_at, id) < (before_time, before_id)
      order by created_at desc, id desc limit rows_max;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.audit_partitions()
 RETURNS TABLE(name text, lower timestamp with time zone, upper timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET "DateStyle" TO 'ISO'
AS $function$
  select c.relname::text, coalesce(substring(bounds from 'FROM \(''([^'']*)''\)')::timestamptz, '-infinity'),
    coalesce(substring(bounds from 'TO \(''([^'']*)''\)')::timestamptz, 'infinity')
  from pg_inherits i join pg_class c on c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) bounds
  where i.inhparent = 'audit_logs'::regclass
  order by 2
$function$;

CREATE OR REPLACE FUNCTION public.check_audit_bound()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  lock table audit_logs_later in share update exclusive mode;
  if exists (select from pg_constraint
      where conrelid = 'audit_logs_later'::regclass and conname = 'audit_logs_closing' and not convalidated) then
    alter table audit_logs_later validate constraint audit_logs_closing;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.claim_upload(token bytea, by_project uuid, by_id uuid, at bigint, adding bigint, object uuid, tail uuid, holder uuid, seconds double precision)
 RETURNS TABLE(outcome text, took_over boolean, room bigint, allowed_mimes text[], max_file_size bigint, cors_origins text[], dev_mode boolean, id uuid, project_id uuid, user_id uuid, space_id uuid, status text, mode text, name text, mime_type text, size bigint, received bigint, file_id uuid, error jsonb, expires_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone, epoch integer, receiving boolean, object_id uuid, zone text, state jsonb, tail_id uuid, sha256 bytea)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  upload record;
  policy record;
  owner record;
  held_until timestamptz := now() + make_interval(secs => seconds);
begin
  if token is not null then
    select u.project_id, u.id into by_project, by_id from uploads u where u.token_hash = token;
  end if;
  select u.id, u.project_id, u.user_id, u.space_id, u.status, u.mode, u.name, u.mime_type, u.size, u.received, u.file_id, u.error,
      u.expires_at, u.created_at, u.updated_at, u.epoch, u.receiving, u.object_id, u.zone, u.state, u.tail_id, u.sha256,
      u.integration_id, upload_is_alive(u) as alive
    into upload from uploads u
    where u.project_id = by_project and u.id = by_id for no key update;
  select i.cors_origins, i.dev_mode into policy from integrations i
    where i.project_id = upload.project_id and i.id = upload.integration_id;
  select p.allowed_mimes, p.max_file_size,
      least(p.storage_limit - u.used_bytes - u.reserved_bytes, s.limit_bytes - s.used_bytes - s.reserved_bytes) as room
    into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    left join spaces s on s.project_id = u.project_id and s.id = upload.space_id
    where u.project_id = upload.project_id and u.id = upload.user_id;
  outcome := case
    when upload.status not in ('uploading', 'completed') or upload.alive is not true then 'absent'
    when upload.status <> 'uploading' then 'ended'
    when at <> upload.received then 'offset'
    when at + adding > upload.size then 'too long'
    else 'claimed' end;
  took_over := outcome = 'claimed' and upload.receiving;

  if outcome = 'claimed' then
    if took_over then perform pg_notify('pakhus_uploads', upload.id || ' ' || upload.epoch + 1); end if;
    if at is not null and upload.received = 0 and upload.mode = 'resumable' then
      perform drop_upload_objects(upload.project_id, upload.object_id, upload.tail_id);
      insert into objects (project_id, file_id, id, zone, state, holder, held_until)
        values (upload.project_id, object, object, upload.zone, 'writing', claim_upload.holder, held_until);
      upload.object_id := object;
      upload.state := null;
      upload.tail_id := null;
    end if;
    if at is not null and tail is not null then
      insert into objects (project_id, file_id, id, zone, state, holder, held_until)
        values (upload.project_id, tail, tail, 'private', 'writing', claim_upload.holder, held_until);
    end if;
    upload.epoch := upload.epoch + 1;
    upload.receiving := at is not null;
    update uploads u set epoch = upload.epoch, receiving = upload.receiving, object_id = upload.object_id,
        state = upload.state, tail_id = upload.tail_id
      where u.project_id = upload.project_id and u.id = upload.id;
  end if;
  return query select outcome, took_over, owner.room, owner.allowed_mimes, owner.max_file_size, policy.cors_origins,
    policy.dev_mode, upload.id, upload.project_id, upload.user_id, upload.space_id, upload.status, upload.mode, upload.name,
    upload.mime_type, upload.size, upload.received, upload.file_id, upload.error, upload.expires_at, upload.created_at,
    upload.updated_at, upload.epoch, upload.receiving, upload.object_id, upload.zone, upload.state, upload.tail_id, upload.sha256;
end $function$;

CREATE OR REPLACE FUNCTION public.complete_upload(project uuid, upload_id uuid, at_epoch integer, digest bytea, ip_address text, user_agent text, OUT outcome text, OUT stored_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  upload record;
  file new_file;
begin
  perform lock_upload_owner(project, upload_id);
  select u.user_id, u.space_id, u.name, u.size, u.mime_type, u.folder, u.tags, u.classifier, u.metadata, u.visibility, u.zone,
      u.file_expires_at, u.file_retain_until, u.object_id, u.tail_id, u.reserved, u.actor_type, u.actor_id, u.actor_key_id
    into upload from uploads u
    where u.project_id = project and u.id = upload_id and u.epoch = at_epoch and u.status = 'uploading' for update;
  if not found then outcome := 'taken'; return; end if;

  file.id := upload.object_id;
  file.project_id := project;
  file.user_id := upload.user_id;
  file.space_id := upload.space_id;
  file.name := upload.name;
  file.size := upload.size;
  file.mime_type := upload.mime_type;
  file.storage_key := project || '/' || upload.object_id;
  file.folder := upload.folder;
  file.tags := upload.tags;
  file.classifier := upload.classifier;
  file.metadata := upload.metadata;
  file.visibility := upload.visibility;
  file.zone := upload.zone;
  -- The sha256, and behind it the crc32.
  file.sha256 := substr(digest, 1, 32);
  if length(digest) = 36 then file.crc32 := ('x' || encode(substr(digest, 33), 'hex'))::bit(32)::bigint; end if;
  file.expires_at := upload.file_expires_at;
  file.retain_until := upload.file_retain_until;
  file.created_at := now();
  file.updated_at := now();
  -- Given back first, so that store_file finds exactly this room.
  perform reserve_bytes(project, upload.user_id, upload.space_id, -upload.reserved);
  select stored.outcome, stored.stored_at into outcome, stored_at
    from store_file(file, 'file.upload', upload.actor_type, upload.actor_id, upload.actor_key_id, ip_address, user_agent) stored;
  if outcome <> 'stored' then
    perform reserve_bytes(project, upload.user_id, upload.space_id, upload.reserved);
    return;
  end if;
  perform drop_upload_objects(project, upload.tail_id);
  delete from upload_parts p where p.project_id = project and p.upload_id = complete_upload.upload_id;
  update uploads u set status = 'completed', file_id = file.id, reserved = 0, receiving = false, state = null,
      tail_id = null, updated_at = now()
    where u.project_id = project and u.id = complete_upload.upload_id;
end $function$;

CREATE OR REPLACE FUNCTION public.complete_uploads(batch jsonb, OUT number bigint, OUT outcome text, OUT stored_at timestamp with time zone, OUT told boolean)
 RETURNS SETOF record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET lock_timeout TO '250ms'
AS $function$
declare
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  single record;
  -- Of the uploads that are not passed over, in one order.
  numbers bigint[];
  projects uuid[];
  ids uuid[];
  files jsonb;
  outcomes text[];
  times timestamptz[];
  tellings boolean[];
  stored_ids uuid[];
  at integer;
begin
  free_projects := array(select p.id from projects p
    where p.id = any(array(select (e.value ->> 'project_id')::uuid from jsonb_array_elements(batch) e))
    for key share skip locked);
  free_users := array(select u.id from users u
    where u.id = any(array(select (e.value ->> 'user_id')::uuid from jsonb_array_elements(batch) e))
    for no key update skip locked);
  free_spaces := array(select s.id from spaces s
    where s.id = any(array(select (e.value ->> 'space_id')::uuid from jsonb_array_elements(batch) e))
    for no key update skip locked);

  if jsonb_array_length(batch) = 1 then
    -- Cheaper than a batch of one.
    select f.project_id, f.user_id, f.space_id, f.id, f.epoch, f.digest, f.ip_address, f.user_agent into single
      from jsonb_to_record(batch -> 0) f(project_id uuid, user_id uuid, space_id uuid, id uuid, epoch integer, digest bytea,
        ip_address text, user_agent text);
    number := 1;
    outcome := 'passed over';
    told := false;
    if single.project_id = any(free_projects) and single.user_id = any(free_users)
      and (single.space_id is null or single.space_id = any(free_spaces)) then
      select done.outcome, done.stored_at into outcome, stored_at from complete_upload(single.project_id, single.id,
        single.epoch, single.digest, single.ip_address, single.user_agent) done;
    end if;
    return next;
    return;
  end if;

  with asked as materialized (
    select e.ordinality, e.value as entry, f.project_id, f.id, f.epoch, f.digest
    from jsonb_array_elements(batch) with ordinality e,
      jsonb_to_record(e.value) f(project_id uuid, id uuid, epoch integer, digest bytea)),
  ready as materialized (
    select a.ordinality, a.entry, a.digest, u.project_id, u.id, u.user_id, u.space_id, u.name, u.size, u.mime_type, u.folder, u.tags,
      u.classifier, u.metadata, u.visibility, u.zone, u.file_expires_at, u.file_retain_until, u.object_id, u.reserved,
      u.actor_type, u.actor_id, u.actor_key_id
    from asked a join uploads u on u.project_id = a.project_id and u.id = a.id
    where u.epoch = a.epoch and u.status = 'uploading' and u.project_id = any(free_projects) and u.user_id = any(free_users)
      and (u.space_id is null or u.space_id = any(free_spaces))
    for update of u skip locked),
  -- Given back first, so that store_files finds exactly this room.
  given_back as (
    update users u set reserved_bytes = u.reserved_bytes - r.bytes
    from (select user_id, sum(reserved)::bigint as bytes from ready group by 1) r where u.id = r.user_id and r.bytes > 0),
  given_back_to_spaces as (
    update spaces s set reserved_bytes = s.reserved_bytes - r.bytes
    from (select space_id, sum(reserved)::bigint as bytes from ready where space_id is not null group by 1) r
    where s.id = r.space_id and r.bytes > 0)
  select array_agg(r.ordinality order by r.ordinality), array_agg(r.project_id order by r.ordinality),
    array_agg(r.id order by r.ordinality),
    jsonb_agg(jsonb_build_object('action', 'file.upload', 'actor_type', r.actor_type, 'actor_id', r.actor_id,
      'actor_key_id', r.actor_key_id, 'ip_address', r.entry -> 'ip_address', 'user_agent', r.entry -> 'user_agent',
      'file', jsonb_build_object('id', r.object_id, 'project_id', r.project_id, 'user_id', r.user_id, 'space_id', r.space_id,
        'name', r.name, 'size', r.size, 'mime_type', r.mime_type, 'storage_key', r.project_id || '/' || r.object_id,
        'folder', r.folder, 'tags', r.tags, 'classifier', r.classifier, 'metadata', r.metadata, 'visibility', r.visibility,
        -- The sha256, and behind it the crc32.
        'zone', r.zone, 'sha256', substr(r.digest, 1, 32), 'crc32', case when length(r.digest) = 36
          then ('x' || encode(substr(r.digest, 33), 'hex'))::bit(32)::bigint end,
        'expires_at', r.file_expires_at, 'retain_until', r.file_retain_until)) order by r.ordinality)
    into numbers, projects, ids, files from ready r;

  if numbers is not null then
    select array_agg(s.outcome order by s.number), array_agg(s.stored_at order by s.number), array_agg(s.told order by s.number)
      into outcomes, times, tellings from store_files(files) s;
    stored_ids := array(select d.id from unnest(ids, outcomes) d(id, outcome) where d.outcome = 'stored');
    perform drop_upload_objects(u.project_id, u.tail_id) from uploads u
      where u.project_id = any(projects) and u.id = any(stored_ids) and u.tail_id is not null;
    delete from upload_parts p where p.project_id = any(projects) and p.upload_id = any(stored_ids);
    update uploads u set status = 'completed', file_id = u.object_id, reserved = 0, receiving = false, state = null,
        tail_id = null, updated_at = now()
      where u.project_id = any(projects) and u.id = any(stored_ids);
    -- A refused upload keeps its room until its caller ends it.
    perform reserve_bytes(u.project_id, u.user_id, u.space_id, u.reserved) from uploads u
      where u.project_id = any(projects) and u.id = any(ids) and u.id <> all(stored_ids);
  end if;

  for number in select generate_series(1, jsonb_array_length(batch)) loop
    at := array_position(numbers, number);
    outcome := coalesce(outcomes[at], 'passed over');
    stored_at := times[at];
    told := coalesce(tellings[at], false);
    return next;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.create_upload(upload uploads, per_user bigint, per_project bigint, ip_address text, user_agent text, OUT outcome text, OUT created_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  owner record;
  space record;
  unfinished bigint;
begin
  perform from projects p where p.id = upload.project_id for key share;
  -- In a separate statement, as in store_file.
  perform from users u where u.project_id = upload.project_id and u.id = upload.user_id for no key update;
  select u.active, u.used_bytes + u.reserved_bytes + upload.reserved as wanted, u.file_count, p.storage_limit, p.max_files
    into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = upload.project_id and u.id = upload.user_id;
  if not found then outcome := 'no user'; return; end if;
  if not owner.active then outcome := 'inactive user'; return; end if;
  if upload.space_id is not null then
    select s.active, s.used_bytes + s.reserved_bytes + upload.reserved as wanted, s.limit_bytes into space
      from spaces s where s.project_id = upload.project_id and s.user_id = upload.user_id and s.id = upload.space_id
      for no key update;
    if not found then outcome := 'no space'; return; end if;
    if not space.active then outcome := 'inactive space'; return; end if;
    if space.wanted > space.limit_bytes then outcome := 'space limit'; end if;
  end if;
  if owner.wanted > owner.storage_limit then outcome := 'user limit'; end if;
  if outcome is not null then return; end if;

  select count(*) into unfinished from uploads u
    where u.project_id = upload.project_id and u.user_id = upload.user_id and u.status = 'uploading';
  if unfinished >= per_user then outcome := 'too many of user'; return; end if;
  if owner.file_count + unfinished >= files_allowed(owner.max_files) then outcome := 'file count'; return; end if;
  -- The last lock, so that nobody waits behind a user that is locked for long.
  perform pg_advisory_xact_lock(hashtextextended('uploads of ' || upload.project_id, 0));
  select count(*) into unfinished from uploads u where u.project_id = upload.project_id and u.status = 'uploading';
  if unfinished >= per_project then outcome := 'too many of project'; return; end if;

  created_at := now();
  insert into uploads (id, project_id, user_id, space_id, mode, token_hash, integration_id, key_id, jti, actor_type,
      actor_id, actor_key_id, name, mime_type, folder, tags, classifier, metadata, visibility, sha256, size, reserved,
      object_id, zone, state, expires_at, file_expires_at, file_retain_until)
    values (upload.id, upload.project_id, upload.user_id, upload.space_id, upload.mode, upload.token_hash,
      upload.integration_id, upload.key_id, upload.jti, upload.actor_type, upload.actor_id, upload.actor_key_id,
      upload.name, upload.mime_type, upload.folder, upload.tags, upload.classifier, upload.metadata, upload.visibility,
      upload.sha256, upload.size, upload.reserved, upload.object_id, upload.zone, upload.state, upload.expires_at,
      upload.file_expires_at, upload.file_retain_until);
  -- Only a direct upload has its object from the beginning: clients send its parts at any time.
  insert into objects (project_id, file_id, id, zone, state, held_until)
    select upload.project_id, upload.object_id, upload.object_id, upload.zone, 'writing', upload.expires_at + interval '2 hours'
    where upload.object_id is not null;
  perform reserve_bytes(upload.project_id, upload.user_id, upload.space_id, upload.reserved);
  perform record_audit(upload.project_id, upload.actor_type, upload.actor_id, upload.actor_key_id, ip_address, user_agent,
    'upload.create', 'upload', upload.id::text, upload.user_id,
    jsonb_build_object('new', jsonb_build_object('name', upload.name, 'size', upload.size, 'mimeType', upload.mime_type,
      'mode', upload.mode, 'folder', upload.folder, 'visibility', upload.visibility, 'space_id', upload.space_id)));
  outcome := 'created';
end $function$;

CREATE OR REPLACE FUNCTION public.delete_file(project_id uuid, user_id uuid, space_id uuid, file_id uuid, action text, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text)
 RETURNS TABLE(zone text)
 LANGUAGE plpgsql
AS $function$
begin
  return query select r.zone from remove_files($1, $2, $3, array[$4], false, jsonb_build_object('action', $5, 'actor_type', $6,
    'actor_id', $7, 'actor_key_id', $8, 'ip_address', $9, 'user_agent', $10)) r;
end $function$;

CREATE OR REPLACE FUNCTION public.drop_audit_partition(expired timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 SET lock_timeout TO '100ms'
AS $function$
declare
  oldest record;
begin
  if not exists (select from audit_partitions() p where p.upper <= expired and p.name <> 'audit_logs_past') then
    return null;
  end if;
  lock table only audit_logs in access exclusive mode;
  select p.name, p.upper into oldest from audit_partitions() p
    where p.upper <= expired and p.name <> 'audit_logs_past' order by p.upper limit 1;
  if not found then return null; end if;
  if to_regclass('audit_logs_past') is not null then
    alter table audit_logs detach partition audit_logs_past;
  end if;
  execute format('drop table %I', oldest.name);
  perform attach_audit_partition('audit_logs_past', '-infinity', oldest.upper);
  return oldest.name;
end $function$;

CREATE OR REPLACE FUNCTION public.drop_jobs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from compression_jobs j using gone g
    where j.project_id = g.project_id and j.file_id = g.id and starts_with(g.mime_type, 'image/')
      and not exists (select from files f where f.project_id = g.project_id and f.id = g.id)
      and not exists (select from trashed_files t where t.project_id = g.project_id and t.id = g.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.drop_shares()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from shares s using gone g
    where s.project_id = g.project_id and s.file_id = g.id
      and not exists (select from files f where f.project_id = g.project_id and f.id = g.id)
      and not exists (select from trashed_files t where t.project_id = g.project_id and t.id = g.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.drop_upload_objects(project uuid, VARIADIC ids uuid[])
 RETURNS void
 LANGUAGE sql
AS $function$
  update objects o set state = 'deleting', holder = null, held_until = now(), late_until = now() + interval '1 minute'
  where o.project_id = project and o.file_id = any(ids) and o.id = o.file_id and o.state = 'writing'
$function$;

CREATE OR REPLACE FUNCTION public.drop_variant_object()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'INSERT' and old.object_id is not null then
    update objects o set state = 'deleting', holder = null, held_until = now()
      where o.project_id = old.project_id and o.file_id = old.file_id and o.id = old.object_id and o.zone = 'private'
        and o.state = 'stored';
    insert into stat_deltas values (old.project_id, 'variants', '', -1, -old.bytes);
  end if;
  if tg_op <> 'DELETE' and new.object_id is not null then
    insert into stat_deltas values (new.project_id, 'variants', '', 1, new.bytes);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.end_upload(project uuid, upload_id uuid, at_epoch integer, new_status text, why jsonb, action text, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text, shown jsonb DEFAULT NULL::jsonb)
 RETURNS TABLE(id uuid, project_id uuid, object_id uuid, zone text, state jsonb, name text, mime_type text)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  upload record;
begin
  perform lock_upload_owner(project, upload_id);
  select u.id, u.user_id, u.space_id, u.name, u.mime_type, u.size, u.received, u.reserved, u.epoch, u.receiving, u.object_id,
      u.tail_id, u.zone, u.state, u.actor_type, u.actor_id, u.actor_key_id
    into upload from uploads u
    where u.project_id = project and u.id = upload_id and u.status = 'uploading' and u.epoch = coalesce(at_epoch, u.epoch)
      -- One that was found overdue may have received something since.
      and (new_status <> 'expired' or u.expires_at <= now())
    for update;
  if not found then return; end if;
  perform reserve_bytes(project, upload.user_id, upload.space_id, -upload.reserved);
  perform drop_upload_objects(project, upload.object_id, upload.tail_id);
  delete from upload_parts p where p.project_id = project and p.upload_id = upload.id;
  if upload.receiving and at_epoch is null then perform pg_notify('pakhus_uploads', upload.id || ' ' || upload.epoch + 1); end if;
  update uploads u set status = new_status, error = why, reserved = 0, epoch = u.epoch + 1, receiving = false, state = null,
      tail_id = null, updated_at = now()
    where u.project_id = project and u.id = upload.id;
  if action is not null then
    perform record_audit(project, coalesce($7, upload.actor_type), coalesce($8, upload.actor_id),
      coalesce($9, upload.actor_key_id), ip_address, user_agent, action, 'upload', upload.id::text, upload.user_id,
      jsonb_build_object('old', jsonb_build_object('name', upload.name, 'size', upload.size, 'offset', upload.received)));
  end if;
  if shown is not null then
    perform record_event(project, 'upload.expired', upload.user_id, (shown || jsonb_build_object('status', new_status,
      'offset', upload.received, 'updated_at', to_iso(now())))::text);
  end if;
  return query select upload.id, project, upload.object_id, upload.zone, upload.state, upload.name, upload.mime_type;
end $function$;

CREATE OR REPLACE FUNCTION public.event_slot(at timestamp with time zone)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (floor(extract(epoch from at) / 86400)::bigint % 10)::smallint
$function$;

CREATE OR REPLACE FUNCTION public.extend_audit_logs()
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '100ms'
AS $function$
declare
  bound constant timestamptz := audit_bound();
  this_month constant timestamptz := date_trunc('month', now() at time zone 'UTC') at time zone 'UTC';
  start timestamptz;
  closed text;
begin
  lock table only audit_logs in access exclusive mode;
  select p.lower into start from audit_partitions() p where p.upper = 'infinity';
  if start >= bound then return; end if;
  alter table audit_logs detach partition audit_logs_later;

  if exists (select from audit_logs_later where created_at < bound) then
    create temporary table audit_ahead on commit drop as
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address,
        user_agent, metadata, created_at
      from audit_logs_later where created_at >= bound;
    -- A table that is no partition has no trigger against it.
    delete from audit_logs_later where created_at >= bound;
    closed := 'audit_logs_until_' || to_char(bound at time zone 'UTC', 'YYYY_MM');
    execute format('alter table audit_logs_later rename to %I', closed);
    perform attach_audit_partition(closed, start, bound);
    execute format('alter table %I drop constraint if exists audit_logs_closing', closed);
    perform attach_audit_partition('audit_logs_later', bound, 'infinity');
    insert into audit_logs (id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address,
        user_agent, metadata, created_at)
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address,
        user_agent, metadata, created_at
      from audit_ahead;
    drop table audit_ahead;
    return;
  end if;

  alter table audit_logs_later drop constraint if exists audit_logs_closing;
  if start = '-infinity' then
    perform attach_audit_partition('audit_logs_past', '-infinity', this_month);
    start := this_month;
  elsif start < this_month then
    perform attach_audit_partition('audit_logs_until_' || to_char(this_month at time zone 'UTC', 'YYYY_MM'), start, this_month);
    start := this_month;
  end if;
  while start < bound loop
    perform attach_audit_partition('audit_logs_' || to_char(start at time zone 'UTC', 'YYYY_MM'), start,
      (start at time zone 'UTC' + interval '1 month') at time zone 'UTC');
    start := (start at time zone 'UTC' + interval '1 month') at time zone 'UTC';
  end loop;
  perform attach_audit_partition('audit_logs_later', bound, 'infinity');
end $function$;

CREATE OR REPLACE FUNCTION public.file_name_key(name text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if to_regprocedure('unaccent(text)') is null then return left(lower(normalize(name)), 400); end if;
  return left(lower(unaccent(normalize(name))), 400);
end $function$;

CREATE OR REPLACE FUNCTION public.file_name_pattern(part text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select '%' || regexp_replace(file_name_key(part), '([\\%_])', '\\\1', 'g') || '%'
$function$;

CREATE OR REPLACE FUNCTION public.files_allowed(max_files bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$select coalesce(max_files, 10000000)$function$;

CREATE OR REPLACE FUNCTION public.gin_btree_consistent(internal, smallint, anyelement, integer, internal, internal)
 RETURNS boolean
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_btree_consistent$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_anyenum(anyenum, anyenum, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_anyenum$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_bit(bit, bit, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_bit$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_bool(boolean, boolean, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_bool$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_bpchar(character, character, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_bpchar$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_bytea(bytea, bytea, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_bytea$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_char("char", "char", smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_char$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_cidr(cidr, cidr, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_cidr$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_date(date, date, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_date$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_float4(real, real, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_float4$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_float8(double precision, double precision, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_float8$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_inet(inet, inet, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_inet$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_int2(smallint, smallint, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_int2$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_int4(integer, integer, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_int4$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_int8(bigint, bigint, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_int8$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_interval(interval, interval, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_interval$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_macaddr(macaddr, macaddr, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_macaddr$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_macaddr8(macaddr8, macaddr8, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_macaddr8$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_money(money, money, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_money$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_name(name, name, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_name$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_numeric(numeric, numeric, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_numeric$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_oid(oid, oid, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_oid$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_text(text, text, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_text$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_time(time without time zone, time without time zone, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_time$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_timestamp(timestamp without time zone, timestamp without time zone, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_timestamp$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_timestamptz(timestamp with time zone, timestamp with time zone, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_timestamptz$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_timetz(time with time zone, time with time zone, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_timetz$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_uuid(uuid, uuid, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_uuid$function$;

CREATE OR REPLACE FUNCTION public.gin_compare_prefix_varbit(bit varying, bit varying, smallint, internal)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_compare_prefix_varbit$function$;

CREATE OR REPLACE FUNCTION public.gin_enum_cmp(anyenum, anyenum)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_enum_cmp$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_anyenum(anyenum, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_anyenum$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_bit(bit, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_bit$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_bool(boolean, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_bool$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_bpchar(character, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_bpchar$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_bytea(bytea, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_bytea$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_char("char", internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_char$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_cidr(cidr, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_cidr$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_date(date, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_date$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_float4(real, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_float4$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_float8(double precision, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_float8$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_inet(inet, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_inet$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_int2(smallint, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_int2$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_int4(integer, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_int4$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_int8(bigint, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_int8$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_interval(interval, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_interval$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_macaddr(macaddr, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_macaddr$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_macaddr8(macaddr8, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_macaddr8$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_money(money, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_money$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_name(name, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_name$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_numeric(numeric, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_numeric$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_oid(oid, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_oid$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_text(text, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_text$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_time(time without time zone, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_time$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_timestamp(timestamp without time zone, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_timestamp$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_timestamptz(timestamp with time zone, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_timestamptz$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_timetz(time with time zone, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_timetz$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_trgm(text, internal, smallint, internal, internal, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gin_extract_query_trgm$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_uuid(uuid, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_uuid$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_query_varbit(bit varying, internal, smallint, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_query_varbit$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_anyenum(anyenum, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_anyenum$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_bit(bit, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_bit$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_bool(boolean, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_bool$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_bpchar(character, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_bpchar$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_bytea(bytea, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_bytea$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_char("char", internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_char$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_cidr(cidr, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_cidr$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_date(date, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_date$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_float4(real, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_float4$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_float8(double precision, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_float8$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_inet(inet, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_inet$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_int2(smallint, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_int2$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_int4(integer, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_int4$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_int8(bigint, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_int8$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_interval(interval, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_interval$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_macaddr(macaddr, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_macaddr$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_macaddr8(macaddr8, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_macaddr8$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_money(money, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_money$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_name(name, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_name$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_numeric(numeric, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_numeric$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_oid(oid, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_oid$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_text(text, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_text$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_time(time without time zone, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_time$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_timestamp(timestamp without time zone, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_timestamp$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_timestamptz(timestamp with time zone, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_timestamptz$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_timetz(time with time zone, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_timetz$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_trgm(text, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gin_extract_value_trgm$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_uuid(uuid, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_uuid$function$;

CREATE OR REPLACE FUNCTION public.gin_extract_value_varbit(bit varying, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_extract_value_varbit$function$;

CREATE OR REPLACE FUNCTION public.gin_numeric_cmp(numeric, numeric)
 RETURNS integer
 LANGUAGE c
 IMMUTABLE STRICT
AS '$libdir/btree_gin', $function$gin_numeric_cmp$function$;

CREATE OR REPLACE FUNCTION public.gin_trgm_consistent(internal, smallint, text, integer, internal, internal, internal, internal)
 RETURNS boolean
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gin_trgm_consistent$function$;

CREATE OR REPLACE FUNCTION public.gin_trgm_triconsistent(internal, smallint, text, integer, internal, internal, internal)
 RETURNS "char"
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gin_trgm_triconsistent$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_compress(internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_compress$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_consistent(internal, text, smallint, oid, internal)
 RETURNS boolean
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_consistent$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_decompress(internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_decompress$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_distance(internal, text, smallint, oid, internal)
 RETURNS double precision
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_distance$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_in(cstring)
 RETURNS gtrgm
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_in$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_options(internal)
 RETURNS void
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE
AS '$libdir/pg_trgm', $function$gtrgm_options$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_out(gtrgm)
 RETURNS cstring
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_out$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_penalty(internal, internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_penalty$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_picksplit(internal, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_picksplit$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_same(gtrgm, gtrgm, internal)
 RETURNS internal
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_same$function$;

CREATE OR REPLACE FUNCTION public.gtrgm_union(internal, internal)
 RETURNS gtrgm
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$gtrgm_union$function$;

CREATE OR REPLACE FUNCTION public.index_files(project uuid, files_max integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  position uuid;
  last_id uuid;
begin
  select p.search_position into position from projects p
    where p.id = project and p.searches_since < now() - interval '15 seconds' and not p.searchable for no key update skip locked;
  if not found then return false; end if;
  -- Locked, so that none of them changes or goes before it is indexed.
  with next_files as materialized (
    select f.id, f.project_id, f.user_id, f.space_id, f.folder, f.name, f.size, f.sha256, f.created_at from files f
    where f.project_id = project and f.id > position order by f.id limit files_max for share),
  indexed as (
    insert into file_names (project_id, user_id, space_id, file_id, folder_hash, name_key, size, sha256, created_at)
    select f.project_id, f.user_id, f.space_id, f.id, md5(f.folder)::uuid, file_name_key(f.name), f.size, f.sha256, f.created_at
    from next_files f on conflict do nothing)
  select f.id into last_id from next_files f order by f.id desc limit 1;
  update projects p set search_position = coalesce(last_id, position), searchable = last_id is null where p.id = project;
  return last_id is not null;
end $function$;

CREATE OR REPLACE FUNCTION public.insert_event(project uuid, event_type text, of_user uuid, event_data text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into events (project_id, type, user_id, data) values (project, event_type, of_user, event_data);
  perform pg_notify('pakhus_events', project::text);
end $function$;

CREATE OR REPLACE FUNCTION public.is_over(percent integer, used bigint, storage_limit bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(used > 0 and used::numeric * 100 >= storage_limit::numeric * percent, false)
$function$;

CREATE OR REPLACE FUNCTION public.job_json(job_id uuid, file_id uuid, status text, original_size bigint, compressed_size bigint, format text, width integer, height integer, error text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select json_strip_nulls(json_build_object('job_id', job_id, 'file_id', file_id, 'status', status,
    'original_size', case status when 'done' then original_size end,
    'compressed_size', case status when 'done' then compressed_size end,
    'compression_ratio', case status when 'done'
      then floor(original_size::float8 / greatest(compressed_size, 1) * 100 + 0.5) / 100 end,
    'format', case status when 'done' then format end, 'width', case status when 'done' then width end,
    'height', case status when 'done' then height end, 'error', case status when 'failed' then error end))::text
$function$;

CREATE OR REPLACE FUNCTION public.keep_file_names()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into file_names (project_id, user_id, space_id, file_id, folder_hash, name_key, size, sha256, created_at)
      select f.project_id, f.user_id, f.space_id, f.id, md5(f.folder)::uuid, file_name_key(f.name), f.size, f.sha256, f.created_at
      from changed f join projects p on p.id = f.project_id and p.searches_since is not null
      on conflict do nothing;
  elsif tg_op = 'DELETE' then
    -- Arrays force the index: the plan is kept, and made while there may be few rows.
    delete from file_names n where n.project_id = any(array(
        select p.id from projects p where p.searches_since is not null and p.id = any(array(select f.project_id from changed f))))
      and n.file_id = any(array(select f.id from changed f));
  else
    update file_names n set user_id = new.user_id, space_id = new.space_id, folder_hash = md5(new.folder)::uuid,
      name_key = file_name_key(new.name), size = new.size, sha256 = new.sha256
      where n.project_id = new.project_id and n.file_id = new.id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_file_tags()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into file_tags select distinct f.project_id, f.user_id, tag, f.created_at, f.id from changed f, unnest(f.tags) tag;
  elsif tg_op = 'DELETE' then
    -- `offset 0` forces one index probe per tag: PostgreSQL would rather look for each file among all tags of its user.
    delete from file_tags where ctid = any(array(
      select kept.row from changed f, unnest(f.tags) as of_file(tag), lateral (
        select t.ctid as row from file_tags t
        where t.project_id = f.project_id and t.user_id = f.user_id and t.tag = of_file.tag
          and t.created_at = f.created_at and t.id = f.id
        offset 0) kept));
  else
    delete from file_tags t where t.project_id = old.project_id and t.user_id = old.user_id and t.tag = any(old.tags)
      and t.created_at = old.created_at and t.id = old.id;
    insert into file_tags select distinct new.project_id, new.user_id, tag, new.created_at, new.id from unnest(new.tags) tag;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  -- Never an earlier day, even if the clock was set back.
  today date := greatest((clock_timestamp() at time zone 'UTC')::date, old.usage_day);
  is_new_day boolean := old.usage_day < today;
  base_files bigint := old.day_base_files;
  base_bytes bigint := old.day_base_bytes;
  peak_bytes bigint := greatest(old.day_peak_bytes, old.used_bytes);
begin
  -- A project that is being deleted takes its usage along.
  if tg_op = 'DELETE' and not exists (select from projects p where p.id = old.project_id) then return old; end if;
  if is_new_day and (base_files is not null or old.file_count > 0) then
    insert into usage_days (project_id, user_id, date, until, bytes_max, bytes_end, uploads, bytes_in)
    values (old.project_id, old.id, old.usage_day, today - 1, peak_bytes, old.used_bytes,
      old.file_count - coalesce(base_files, old.file_count), old.used_bytes - coalesce(base_bytes, old.used_bytes));
  end if;
  if is_new_day or base_files is null then
    base_files := old.file_count;
    base_bytes := old.used_bytes;
    peak_bytes := old.used_bytes;
  end if;
  if tg_op = 'DELETE' then
    insert into usage_days (project_id, user_id, date, until, bytes_max, bytes_end, uploads, bytes_in, is_last)
    values (old.project_id, old.id, today, today, peak_bytes, 0, old.file_count - base_files, old.used_bytes - base_bytes, true);
    return old;
  end if;
  new.usage_day := today;
  new.day_base_files := base_files + least(new.file_count - old.file_count, 0);
  new.day_base_bytes := base_bytes + least(new.used_bytes - old.used_bytes, 0);
  new.day_peak_bytes := peak_bytes;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.lock_upload_owner(project uuid, upload_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  upload record;
begin
  perform from projects p where p.id = project for key share;
  select u.user_id, u.space_id into upload from uploads u where u.project_id = project and u.id = upload_id;
  perform from users u where u.project_id = project and u.id = upload.user_id for no key update;
  perform from spaces s where s.project_id = project and s.id = upload.space_id for no key update;
end $function$;

CREATE OR REPLACE FUNCTION public.note_file_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stat_deltas values (old.project_id, 'visibility', old.visibility, -1, -old.size),
    (old.project_id, 'mime_type', old.mime_type, -1, -old.size),
    (old.project_id, 'classifier', coalesce(old.classifier, ''), -1, -old.size),
    (new.project_id, 'visibility', new.visibility, 1, new.size),
    (new.project_id, 'mime_type', new.mime_type, 1, new.size),
    (new.project_id, 'classifier', coalesce(new.classifier, ''), 1, new.size);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_files_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stat_deltas
    select project_id, 'visibility', visibility, count(*), sum(size) from added group by 1, 3
    union all
    select project_id, 'mime_type', mime_type, count(*), sum(size) from added group by 1, 3
    union all
    select project_id, 'classifier', coalesce(classifier, ''), count(*), sum(size) from added group by 1, 3;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_files_gone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stat_deltas
    select f.project_id, d.dimension, d.value, -count(*), -sum(f.size)
    from gone f cross join lateral (values ('visibility', f.visibility), ('mime_type', f.mime_type),
      ('classifier', coalesce(f.classifier, ''))) d(dimension, value)
    group by 1, 2, 3;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_job()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'INSERT' then
    insert into stat_deltas values (old.project_id, 'jobs', old.status, -1, 0);
  end if;
  if tg_op <> 'DELETE' then
    insert into stat_deltas values (new.project_id, 'jobs', new.status, 1, 0);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_trash()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into stat_deltas
    select c.project_id, 'trash', '', case tg_op when 'INSERT' then count(*) else -count(*) end,
      case tg_op when 'INSERT' then sum(c.size) else -sum(c.size) end
    from changed c group by 1;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_users()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into stat_deltas select project_id, 'users', '', count(*), 0 from added group by project_id;
  else
    insert into stat_deltas select project_id, 'users', '', -count(*), 0 from gone group by project_id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.open_feed()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  current_system text := (select system_identifier::text from pg_control_system());
begin
  insert into event_feed (system) values (current_system)
    on conflict (only_row) do update set system = excluded.system, id = gen_random_uuid()
    where event_feed.system <> excluded.system;
  if found then truncate events; end if;
end $function$;

CREATE OR REPLACE FUNCTION public.project_listens(project uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return exists (select from projects p where p.id = project and p.listens_until > now());
end $function$;

CREATE OR REPLACE FUNCTION public.purge_files(project uuid, owner uuid, space uuid, file_ids uuid[], stamp jsonb)
 RETURNS TABLE(id uuid, zone text)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  listens boolean;
  gone record;
begin
  select p.listens_until > now() into listens from projects p where p.id = project for key share;
  perform from users u where u.project_id = project and u.id = owner for no key update;
  perform from spaces s where s.project_id = project and s.id = any(array(
    select t.space_id from trashed_files t where t.project_id = project and t.id = any(file_ids) and t.space_id is not null))
    order by s.id for no key update;
  for gone in
    with taken as (
      delete from trashed_files t
      where t.project_id = project and t.user_id = owner and t.id = any(file_ids) and (space is null or t.space_id = space)
      returning t.id, t.space_id, t.name, t.size, t.mime_type, t.zone, t.view),
    charged_user as (
      update users u set used_bytes = u.used_bytes - g.bytes, file_count = u.file_count - g.files
      from (select sum(t.size)::bigint as bytes, count(*) as files from taken t having count(*) > 0) g
      where u.project_id = project and u.id = owner),
    charged_spaces as (
      update spaces s set used_bytes = s.used_bytes - g.bytes, file_count = s.file_count - g.files
      from (select t.space_id, sum(t.size)::bigint as bytes, count(*) as files from taken t
        where t.space_id is not null group by 1) g
      where s.project_id = project and s.id = g.space_id),
    dropped as (
      update objects o set state = 'deleting', holder = null, held_until = now(),
        late_until = case when o.state in ('moving', 'rewriting') then o.held_until else o.late_until end
      where o.project_id = project and o.file_id = any(array(select t.id from taken t))
        and o.state in ('stored', 'moving', 'rewriting')),
    told as (
      insert into events (project_id, type, user_id, data)
      select project, 'file.deleted', owner, t.view || coalesce((
        select job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
        from compression_jobs j where j.project_id = project and j.file_id = t.id and starts_with(t.mime_type, 'image/')),
        'null') || '}'
      from taken t where listens)
    select t.id, t.name, t.size, t.mime_type, t.zone from taken t
  loop
    perform record_audit(project, stamp ->> 'actor_type', (stamp ->> 'actor_id')::uuid, stamp ->> 'actor_key_id',
      stamp ->> 'ip_address', stamp ->> 'user_agent', stamp ->> 'action', 'file', gone.id::text, owner,
      jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
    id := gone.id;
    zone := gone.zone;
    return next;
  end loop;
  if listens then perform pg_notify('pakhus_events', project::text); end if;
end $function$;

CREATE OR REPLACE FUNCTION public.record_audit(project_id uuid, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text, action text, resource_type text, resource_id text, user_id uuid, metadata jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 SET lock_timeout TO '250ms'
AS $function$
begin
  insert into audit_logs
    (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id, metadata)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, '{}'));
  return true;
exception when others then
  raise warning 'audit row for % not recorded: %', action, sqlerrm;
  return false;
end $function$;

CREATE OR REPLACE FUNCTION public.record_event(project uuid, event_type text, of_user uuid, event_data text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if project_listens(project) then perform insert_event(project, event_type, of_user, event_data); end if;
end $function$;

CREATE OR REPLACE FUNCTION public.record_plan_thresholds(project uuid, of_plan uuid, limit_before bigint, limit_after bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if limit_after is null or limit_before <= limit_after or not project_listens(project) then return; end if;
  perform record_thresholds(project, u.id, u.used_bytes, limit_before, u.used_bytes, limit_after)
    from users u where u.project_id = project and u.plan_id = of_plan
      and u.usage_bucket >= usage_bucket(limit_after / 5 * 4) - 1 and is_over(80, u.used_bytes, limit_after);
end $function$;

CREATE OR REPLACE FUNCTION public.record_stored(projects uuid[], owners uuid[], views text[], near_users uuid[], near_bytes bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  today smallint := event_slot(now());
begin
  insert into events (slot, project_id, type, user_id, data)
    select today, f.project_id, 'file.created', f.user_id, f.view || 'null}'
    from unnest(projects, owners, views) f(project_id, user_id, view);
  if near_users <> '{}' then
    perform record_thresholds(u.project_id, u.id, u.used_bytes - n.bytes, p.storage_limit, u.used_bytes, p.storage_limit)
      from unnest(near_users, near_bytes) n(user_id, bytes)
      join users u on u.id = n.user_id
      join plans p on p.project_id = u.project_id and p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default));
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.record_thresholds(project uuid, of_user uuid, used_before bigint, limit_before bigint, used_after bigint, limit_after bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  threshold integer;
begin
  foreach threshold in array array[80, 100] loop
    if is_over(threshold, used_after, limit_after) and not is_over(threshold, used_before, limit_before) then
      perform record_event(project, 'quota.threshold', of_user,
        left(view_user(project, of_user)::text, -1) || ',"threshold":' || threshold || '}');
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.record_user_event(project uuid, event_type text, of_user uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not project_listens(project) then return; end if;
  perform insert_event(project, event_type, of_user, view_user(project, of_user)::text);
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    if old.created_at < nullif(current_setting('pakhus.audit_purge_before', true), '')::timestamptz then
      return old;
    end if;
  end if;
  raise exception 'audit rows are immutable' using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.remove_files(project uuid, owner uuid, space uuid, file_ids uuid[], for_good boolean, stamp jsonb, event_type text DEFAULT NULL::text)
 RETURNS TABLE(id uuid, zone text, trashed boolean)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  listens boolean;
  gone record;
begin
  select p.listens_until > now(), p.trash_days > 0 and not for_good into listens, trashed
    from projects p where p.id = project for key share;
  perform from users u where u.project_id = project and u.id = owner for no key update;
  -- The space before the file: see the order of locks in the baseline.
  perform from spaces s where s.project_id = project and s.id = any(array(
    select f.space_id from files f where f.project_id = project and f.id = any(file_ids) and f.space_id is not null))
    order by s.id for no key update;
  for gone in
    with taken as materialized (
      select f.id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder, f.tags, f.classifier,
        f.metadata, f.visibility, f.zone, f.sha256, f.crc32, f.expires_at, f.retain_until, f.created_at, f.updated_at, f.view
      from files f
      where f.project_id = project and f.user_id = owner and f.id = any(file_ids) and (space is null or f.space_id = space)
        and coalesce(f.retain_until <= now(), true)
      for update),
    kept as (
      insert into trashed_files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
        metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at, view)
      select t.id, project, t.user_id, t.space_id, t.name, t.size, t.mime_type, t.storage_key, t.folder, t.tags, t.classifier,
        t.metadata, t.visibility, t.zone, t.sha256, t.crc32, t.expires_at, t.retain_until, t.created_at, t.updated_at, t.view
      from taken t where trashed),
    deleted as (
      delete from files f where f.project_id = project and f.id = any(array(select t.id from taken t))),
    charged_user as (
      update users u set used_bytes = u.used_bytes - g.bytes, file_count = u.file_count - g.files
      from (select sum(t.size)::bigint as bytes, count(*) as files from taken t where not trashed having count(*) > 0) g
      where u.project_id = project and u.id = owner),
    charged_spaces as (
      update spaces s set used_bytes = s.used_bytes - g.bytes, file_count = s.file_count - g.files
      from (select t.space_id, sum(t.size)::bigint as bytes, count(*) as files from taken t
        where t.space_id is not null and not trashed group by 1) g
      where s.project_id = project and s.id = g.space_id),
    -- A mover or an image worker may still be writing. What a mover writes is deleted now, and again when its last request
    -- cannot arrive any more; what an image worker writes stays with a file in the trash, whose job knows both digests. Objects of
    -- variants go with their rows, which are locked first.
    dropped as (
      update objects o set state = case when trashed and o.state = 'rewriting' then 'stored' else 'deleting' end, holder = null,
        held_until = case when trashed and o.state = 'rewriting' then null else now() end,
        late_until = case when o.state in ('moving', 'rewriting') then o.held_until else o.late_until end
      where o.project_id = project and o.file_id = any(array(select t.id from taken t))
        and o.id = o.file_id and (o.state in ('moving', 'rewriting') or (o.state = 'stored' and not trashed))),
    told as (
      insert into events (project_id, type, user_id, data)
      select project, coalesce(event_type, case when trashed then 'file.trashed' else 'file.deleted' end), owner,
        t.view || coalesce((
          select job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
          from compression_jobs j where j.project_id = project and j.file_id = t.id and starts_with(t.mime_type, 'image/')),
          'null') || '}'
      from taken t where listens)
    select t.id, t.name, t.size, t.mime_type, t.zone from taken t
  loop
    if stamp is not null then
      perform record_audit(project, stamp ->> 'actor_type', (stamp ->> 'actor_id')::uuid, stamp ->> 'actor_key_id',
        stamp ->> 'ip_address', stamp ->> 'user_agent',
        case when trashed and stamp ->> 'action' = 'file.delete' then 'file.trash' else stamp ->> 'action' end,
        'file', gone.id::text, owner,
        jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
    end if;
    id := gone.id;
    zone := case when trashed then null else gone.zone end;
    return next;
  end loop;
  if listens then perform pg_notify('pakhus_events', project::text); end if;
end $function$;

CREATE OR REPLACE FUNCTION public.request_variant(project uuid, file uuid, recipe uuid, content bytea, present_store text, unfinished_max integer)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  known record;
  -- A job that nobody has taken for so long may have been lost, as with a queue that was restored from a backup.
  lost_before timestamptz := now() - interval '15 minutes';
begin
  -- One request of a project at a time, so that the bound is exact.
  perform pg_advisory_xact_lock(7256490, hashtext(project::text));
  -- Shared with other requests, and kept from changing until the row is there: then the clean-up of retired recipes finds it.
  perform from variants v where v.project_id = project and v.recipe_id = recipe for share;
  if not found then return 'changed'; end if;
  -- A file that is being deleted is not waited for: the deletion of its user may take minutes.
  perform from files f where f.project_id = project and f.id = file for key share skip locked;
  if not found then return 'gone'; end if;
  select i.state, i.queued_at, i.retry_at, i.store, i.content_sha256 into known from variant_images i
    where i.project_id = project and i.file_id = file and i.recipe_id = recipe for update;
  if known.state in ('pending', 'making') and known.queued_at > lost_before then return 'waiting'; end if;
  if known.state in ('ready', 'failed') and (content is null or known.content_sha256 = content)
    and (known.state = 'failed' or known.store = present_store) and (known.retry_at > now() or known.retry_at is null)
    then return 'waiting'; end if;
  if (select count(*) from (select from variant_images i where i.project_id = project and i.state in ('pending', 'making')
      and i.queued_at > lost_before limit unfinished_max) unfinished) >= unfinished_max
    then return 'crowded'; end if;
  insert into variant_images as i (project_id, file_id, recipe_id, content_sha256) values (project, file, recipe, content)
    on conflict (project_id, file_id, recipe_id) do update set state = 'pending', content_sha256 = excluded.content_sha256,
      attempts = 0, queued_at = now(), object_id = null, bytes = null, width = null, height = null, sha256 = null, store = null,
      made_at = null, last_used_at = null, failure = null, error = null, retry_at = null;
  return 'queued';
end $function$;

CREATE OR REPLACE FUNCTION public.reserve_bytes(project uuid, owner uuid, space uuid, bytes bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if bytes = 0 then return; end if;
  update users u set reserved_bytes = u.reserved_bytes + bytes where u.project_id = project and u.id = owner;
  if space is not null then
    update spaces s set reserved_bytes = s.reserved_bytes + bytes where s.project_id = project and s.id = space;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.restore_files(project uuid, owner uuid, space uuid, file_ids uuid[], stamp jsonb)
 RETURNS TABLE(id uuid, shown text, waiting_job uuid)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  listens boolean;
  back record;
begin
  select p.listens_until > now() into listens from projects p where p.id = project for key share;
  for back in
    with taken as materialized (
      select t.id, t.user_id, t.space_id, t.name, t.size, t.mime_type, t.storage_key, t.folder, t.tags, t.classifier,
        t.metadata, t.visibility, t.zone, t.sha256, t.crc32, t.expires_at, t.retain_until, t.created_at
      from trashed_files t
      where t.project_id = project and t.user_id = owner and t.id = any(file_ids) and (space is null or t.space_id = space)
      for update),
    inserted as (
      insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
        metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at)
      select t.id, project, t.user_id, t.space_id, t.name, t.size, t.mime_type, t.storage_key, t.folder, t.tags, t.classifier,
        t.metadata, t.visibility, t.zone, t.sha256, t.crc32, case when t.expires_at > now() then t.expires_at end,
        t.retain_until, t.created_at, now()
      from taken t
      returning id, name, mime_type, view),
    deleted as (
      delete from trashed_files t where t.project_id = project and t.id = any(array(select i.id from inserted i))),
    -- A mover may be taking it out of the public zone.
    dropped as (
      update objects o set state = 'deleting', holder = null, held_until = now(), late_until = o.held_until
      where o.project_id = project and o.file_id = any(array(select t.id from taken t)) and o.state = 'moving')
    select i.id, i.name, i.view || case when j.id is null then 'null' else
        job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
      end || '}' as shown, case when j.status in ('pending', 'processing') then j.id end as waiting_job
    from inserted i left join compression_jobs j on j.project_id = project and j.file_id = i.id
  loop
    perform record_audit(project, stamp ->> 'actor_type', (stamp ->> 'actor_id')::uuid, stamp ->> 'actor_key_id',
      stamp ->> 'ip_address', stamp ->> 'user_agent', stamp ->> 'action', 'file', back.id::text, owner,
      jsonb_build_object('new', jsonb_build_object('name', back.name)));
    if listens then perform insert_event(project, 'file.restored', owner, back.shown); end if;
    id := back.id;
    shown := back.shown;
    waiting_job := back.waiting_job;
    return next;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.set_limit(real)
 RETURNS real
 LANGUAGE c
 STRICT
AS '$libdir/pg_trgm', $function$set_limit$function$;

CREATE OR REPLACE FUNCTION public.show_limit()
 RETURNS real
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$show_limit$function$;

CREATE OR REPLACE FUNCTION public.show_trgm(text)
 RETURNS text[]
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$show_trgm$function$;

CREATE OR REPLACE FUNCTION public.similarity(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$similarity$function$;

CREATE OR REPLACE FUNCTION public.similarity_dist(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$similarity_dist$function$;

CREATE OR REPLACE FUNCTION public.similarity_op(text, text)
 RETURNS boolean
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$similarity_op$function$;

CREATE OR REPLACE FUNCTION public.store_file(file new_file, action text, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text, compression text DEFAULT 'null'::text, OUT outcome text, OUT stored_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  listens boolean;
  event_data text;
  owner record;
  space_active boolean;
  space_wanted bigint;
  space_reserved bigint;
  space_limit bigint;
begin
  -- Before the user, because the file's row refers to the project, and deleting a project locks it before its users.
  select p.listens_until > now() into listens from projects p where p.id = file.project_id for key share;
  -- In a separate statement: one that joins and locks re-reads only the locked row after a wait, and would pair the new
  -- user with the old plan.
  perform from users u where u.project_id = file.project_id and u.id = file.user_id for no key update;
  select u.active, u.used_bytes + file.size as wanted, u.reserved_bytes, u.file_count, p.storage_limit, p.max_files
    into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = file.project_id and u.id = file.user_id;
  if not found then outcome := 'no user'; return; end if;
  if not owner.active then outcome := 'inactive user'; return; end if;
  if file.space_id is not null then
    select s.active, s.used_bytes + file.size, s.reserved_bytes, s.limit_bytes
      into space_active, space_wanted, space_reserved, space_limit
      from spaces s where s.project_id = file.project_id and s.user_id = file.user_id and s.id = file.space_id
      for no key update;
    if not found then outcome := 'no space'; return; end if;
    if not space_active then outcome := 'inactive space'; return; end if;
  end if;
  if owner.wanted + owner.reserved_bytes > owner.storage_limit then outcome := 'user limit'; return; end if;
  if space_wanted + space_reserved > space_limit then outcome := 'space limit'; return; end if;
  if owner.file_count >= files_allowed(owner.max_files) then outcome := 'file count'; return; end if;
  update objects o set state = 'stored', holder = null, held_until = null
    where o.project_id = file.project_id and o.file_id = file.id and o.id = file.id and o.zone = file.zone
      and o.state in ('reserved', 'writing');
  if not found then outcome := 'object lost'; return; end if;

  update users set used_bytes = owner.wanted, file_count = users.file_count + 1
    where id = file.user_id and project_id = file.project_id;
  if file.space_id is not null then
    update spaces set used_bytes = space_wanted, file_count = spaces.file_count + 1
      where id = file.space_id and project_id = file.project_id;
  end if;
  insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at)
    values (file.id, file.project_id, file.user_id, file.space_id, file.name, file.size, file.mime_type,
      file.storage_key, file.folder, file.tags, file.classifier, file.metadata, file.visibility, file.zone,
      file.sha256, file.crc32, file.expires_at, file.retain_until, file.created_at, file.updated_at)
    returning view || compression || '}' into event_data;
  perform record_audit(file.project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent,
    action, 'file', file.id::text, file.user_id,
    jsonb_build_object('new', jsonb_build_object('name', file.name, 'size', file.size, 'mimeType', file.mime_type,
      'folder', file.folder, 'visibility', file.visibility, 'space_id', file.space_id)));
  if listens then
    perform insert_event(file.project_id, 'file.created', file.user_id, event_data);
    perform record_thresholds(file.project_id, file.user_id, owner.wanted - file.size, owner.storage_limit,
      owner.wanted, owner.storage_limit);
  end if;
  outcome := 'stored';
  stored_at := file.created_at;
end $function$;

CREATE OR REPLACE FUNCTION public.store_files(batch jsonb, OUT number bigint, OUT outcome text, OUT stored_at timestamp with time zone, OUT told boolean)
 RETURNS SETOF record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET lock_timeout TO '250ms'
AS $function$
declare
  blank new_file;
  free_ids uuid[];
  stored_ids uuid[];
  told_projects uuid[];
  told_users uuid[];
  told_views text[];
  near_users uuid[];
  near_bytes bigint[];
  entry record;
begin
  blank.created_at := now();
  blank.updated_at := now();
  with asked as materialized (
    select f.id, f.project_id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder,
      f.tags, f.classifier, f.metadata, f.visibility, f.zone, f.sha256, f.crc32, f.expires_at, f.retain_until,
      f.created_at, f.updated_at, e.value as entry
    from jsonb_array_elements(batch) e, jsonb_populate_record(blank, e.value -> 'file') f),
  free_projects as materialized (
    select p.id, p.listens_until from projects p where p.id = any(array(select a.project_id from asked a))
    for key share skip locked),
  free_users as materialized (
    select u.id, u.project_id, u.active, u.plan_id, u.used_bytes,
      u.used_bytes + u.reserved_bytes as taken_bytes, u.file_count from users u
    where u.id = any(array(select a.user_id from asked a)) for no key update skip locked),
  free_spaces as materialized (
    select s.id, s.user_id, s.active, s.limit_bytes, s.used_bytes + s.reserved_bytes as taken_bytes from spaces s
    where s.id = any(array(select a.space_id from asked a)) for no key update skip locked),
  users_with_room as materialized (
    select u.id, u.project_id, u.used_bytes, p.storage_limit
    from (select a.user_id, sum(a.size) as bytes, count(*) as files from asked a group by 1) wanted
    join free_users u on u.id = wanted.user_id
    left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.active and (p.storage_limit is null or u.taken_bytes + wanted.bytes <= p.storage_limit)
      and u.file_count + wanted.files <= files_allowed(p.max_files)),
  spaces_with_room as materialized (
    select s.id, s.user_id
    from (select a.space_id, sum(a.size) as bytes from asked a where a.space_id is not null group by 1) wanted
    join free_spaces s on s.id = wanted.space_id
    where s.active and (s.limit_bytes is null or s.taken_bytes + wanted.bytes <= s.limit_bytes)),
  kept as (
    update objects o set state = 'stored', holder = null, held_until = null
    from asked a
    join users_with_room u on u.id = a.user_id and u.project_id = a.project_id
    left join spaces_with_room s on s.id = a.space_id and s.user_id = a.user_id
    where a.project_id = any(array(select p.id from free_projects p)) and (a.space_id is null or s.id is not null)
      and o.project_id = a.project_id and o.file_id = a.id and o.id = a.id and o.zone = a.zone
      and o.state in ('reserved', 'writing')
    returning o.file_id),
  stored as materialized (
    select a.id, a.project_id, a.user_id, a.space_id, a.name, a.size, a.mime_type, a.storage_key, a.folder,
      a.tags, a.classifier, a.metadata, a.visibility, a.zone, a.sha256, a.crc32, a.expires_at, a.retain_until,
      a.created_at, a.updated_at, a.entry
    from kept k join asked a on a.id = k.file_id),
  charged_users as (
    update users u set used_bytes = u.used_bytes + added.bytes, file_count = u.file_count + added.files
    from (select s.user_id, sum(s.size)::bigint as bytes, count(*) as files from stored s group by 1) added
    where u.id = added.user_id),
  charged_spaces as (
    update spaces s set used_bytes = s.used_bytes + added.bytes, file_count = s.file_count + added.files
    from (select t.space_id, sum(t.size)::bigint as bytes, count(*) as files from stored t
      where t.space_id is not null group by 1) added
    where s.id = added.space_id),
  inserted as (
    insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at)
    select f.id, f.project_id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder, f.tags,
      f.classifier, f.metadata, f.visibility, f.zone, f.sha256, f.crc32, f.expires_at, f.retain_until,
      f.created_at, f.updated_at
    from stored f
    returning project_id, user_id, size, view),
  told as materialized (
    select i.project_id, i.user_id, i.size, i.view from inserted i
    where i.project_id = any(array(select p.id from free_projects p where p.listens_until > now()))),
  near as materialized (
    select u.id, added.bytes
    from (select t.user_id, sum(t.size)::bigint as bytes from told t group by 1) added
    join users_with_room u on u.id = added.user_id
    where is_over(80, u.used_bytes + added.bytes, u.storage_limit)),
  audited as (
    insert into audit_logs
      (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id,
        metadata)
    select f.project_id, f.entry ->> 'actor_type', (f.entry ->> 'actor_id')::uuid, f.entry ->> 'actor_key_id',
      f.entry ->> 'ip_address', f.entry ->> 'user_agent', f.entry ->> 'action', 'file', f.id::text, f.user_id,
      jsonb_build_object('new', jsonb_build_object('name', f.name, 'size', f.size, 'mimeType', f.mime_type,
        'folder', f.folder, 'visibility', f.visibility, 'space_id', f.space_id))
    from stored f)
  select array(select f.id from stored f),
    array(select a.id from asked a where a.project_id = any(array(select p.id from free_projects p))
      and a.user_id = any(array(select u.id from free_users u))
      and (a.space_id is null or a.space_id = any(array(select s.id from free_spaces s)))),
    array(select t.project_id from told t), array(select t.user_id from told t), array(select t.view from told t),
    array(select n.id from near n), array(select n.bytes from near n)
  into stored_ids, free_ids, told_projects, told_users, told_views, near_users, near_bytes;
  if told_projects <> '{}' then
    perform record_stored(told_projects, told_users, told_views, near_users, near_bytes);
  end if;

  for entry in
    select e.value, e.ordinality, (e.value -> 'file' ->> 'id')::uuid as file_id
    from jsonb_array_elements(batch) with ordinality e
  loop
    number := entry.ordinality;
    outcome := 'passed over';
    stored_at := null;
    told := false;
    if entry.file_id = any(stored_ids) then
      outcome := 'stored';
      stored_at := blank.created_at;
      told := (entry.value -> 'file' ->> 'project_id')::uuid = any(told_projects);
    elsif entry.file_id = any(free_ids) then
      select stored.outcome, stored.stored_at into outcome, stored_at
        from store_file(jsonb_populate_record(blank, entry.value -> 'file'), entry.value ->> 'action',
          entry.value ->> 'actor_type', (entry.value ->> 'actor_id')::uuid, entry.value ->> 'actor_key_id', entry.value ->> 'ip_address',
          entry.value ->> 'user_agent') stored;
    end if;
    return next;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.strict_word_similarity(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$strict_word_similarity$function$;

CREATE OR REPLACE FUNCTION public.strict_word_similarity_commutator_op(text, text)
 RETURNS boolean
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$strict_word_similarity_commutator_op$function$;

CREATE OR REPLACE FUNCTION public.strict_word_similarity_dist_commutator_op(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$strict_word_similarity_dist_commutator_op$function$;

CREATE OR REPLACE FUNCTION public.strict_word_similarity_dist_op(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$strict_word_similarity_dist_op$function$;

CREATE OR REPLACE FUNCTION public.strict_word_similarity_op(text, text)
 RETURNS boolean
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$strict_word_similarity_op$function$;

CREATE OR REPLACE FUNCTION public.to_iso(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select left(replace((at::timestamptz(3) at time zone 'utc' + '100 microseconds')::text, ' ', 'T'), 23) || 'Z'
$function$;

CREATE OR REPLACE FUNCTION public.unaccent(regdictionary, text)
 RETURNS text
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/unaccent', $function$unaccent_dict$function$;

CREATE OR REPLACE FUNCTION public.unaccent(text)
 RETURNS text
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/unaccent', $function$unaccent_dict$function$;

CREATE OR REPLACE FUNCTION public.unaccent_init(internal)
 RETURNS internal
 LANGUAGE c
 PARALLEL SAFE
AS '$libdir/unaccent', $function$unaccent_init$function$;

CREATE OR REPLACE FUNCTION public.unaccent_lexize(internal, internal, internal, internal)
 RETURNS internal
 LANGUAGE c
 PARALLEL SAFE
AS '$libdir/unaccent', $function$unaccent_lexize$function$;

CREATE OR REPLACE FUNCTION public.upload_is_alive(upload uploads)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from projects p join users u on u.project_id = p.id
    where p.id = upload.project_id and p.active and u.id = upload.user_id and u.active
      and (upload.space_id is null or exists (select from spaces s
        where s.project_id = p.id and s.user_id = u.id and s.id = upload.space_id and s.active))
      and (upload.integration_id is null or exists (select from integrations i
        where i.project_id = p.id and i.id = upload.integration_id and i.active))
      and (upload.key_id is null or exists (select from api_keys k
        where k.project_id = p.id and k.id = upload.key_id and k.active))
      and not exists (select from revoked_tokens r where r.jti = upload.jti and r.subject_id in (u.id, upload.space_id)))
$function$;

CREATE OR REPLACE FUNCTION public.usage_bucket(bytes bigint)
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return case when bytes < 16 then bytes::integer
    else floor(16 * ln(bytes::float8) / ln(2::float8))::integer - 48 end;
end $function$;

CREATE OR REPLACE FUNCTION public.usage_page(project uuid, first_day date, last_day date, after_user uuid, only_user uuid, rows_max integer, as_csv boolean, OUT rows_text text, OUT next_day date, OUT next_user uuid)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
AS $function$
declare
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  end_day date := least(last_day, (now() at time zone 'UTC')::date);
  work_left integer := 50000;
  rows_left integer := rows_max;
  this_day date := first_day;
  day_text text;
  after uuid := coalesce(after_user, nobody);
  looked_max integer;
  looked uuid[];
  ids uuid[];
  part record;
begin
  rows_text := '';
  while this_day <= end_day loop
    if rows_left = 0 or work_left <= 0 then
      next_day := this_day;
      next_user := after;
      return;
    end if;
    day_text := to_char(this_day, 'YYYY-MM-DD');
    looked_max := greatest(rows_left, 1000);
    if only_user is not null then
      looked := array[only_user];
      ids := looked;
    else
      -- A user without files can have a row for its last day of change and earlier ones, if it ever changed.
      select coalesce(array_agg(u.id order by u.id), '{}'), coalesce(array_agg(u.id order by u.id) filter (where u.may_count), '{}')
      into looked, ids
      from (
        select u.id, u.may_count from (
          (select u.id, u.file_count > 0 or u.day_base_files is not null and u.usage_day >= this_day as may_count
            from users u where u.project_id = project and u.id > after order by u.id limit looked_max)
          union all
          (select d.user_id, true from usage_days d where d.project_id = project and d.is_last and d.user_id > after
            order by d.user_id limit looked_max)) u
        order by u.id limit looked_max) u;
    end if;
    if cardinality(ids) > rows_left then
      ids := ids[:rows_left];
      after := ids[rows_left];
    elsif only_user is null and cardinality(looked) = looked_max then
      after := looked[looked_max];
    else
      after := null;
    end if;
    select count(*) as rows, string_agg(case
      when as_csv then concat_ws(',', day_text, f.id, f.bytes_max, f.bytes_end, f.uploads, f.downloads, f.bytes_in) || e'\r\n'
      else concat('{"date":"', day_text, '","user_id":"', f.id, '","bytes_max":', f.bytes_max, ',"bytes_end":', f.bytes_end,
        ',"uploads":', f.uploads, ',"downloads":', f.downloads, ',"bytes_in":', f.bytes_in, '}')
      end, case when as_csv then '' else ',' end order by f.id) as text
    into part
    from (
      select i.id, case when u.date = this_day then u.bytes_max else u.bytes_end end as bytes_max, u.bytes_end,
        case when u.date = this_day then u.uploads else 0 end as uploads,
        coalesce(s.downloads, o.downloads, 0) as downloads,
        case when u.date = this_day then u.bytes_in else 0 end as bytes_in
      from unnest(ids) i(id)
      cross join lateral (
        select u.usage_day as date, greatest(u.day_peak_bytes, u.used_bytes) as bytes_max, u.used_bytes as bytes_end,
          u.file_count - coalesce(u.day_base_files, u.file_count) as uploads,
          u.used_bytes - coalesce(u.day_base_bytes, u.used_bytes) as bytes_in
        from users u where u.project_id = project and u.id = i.id and u.usage_day <= this_day
        union all
        select last.date, last.bytes_max, last.bytes_end, last.uploads, last.bytes_in from (
          select d.date, d.until, d.bytes_max, d.bytes_end, d.uploads, d.bytes_in from usage_days d
          where d.project_id = project and d.user_id = i.id and d.date <= this_day order by d.date desc limit 1) last
        where last.until >= this_day
        limit 1) u
      left join daily_stats s on s.project_id = project and s.subject_id = i.id and s.day = this_day
      left join usage_downloads o on o.project_id = project and o.user_id = i.id and o.date = this_day
    ) f where f.bytes_max > 0 or f.uploads > 0 or f.downloads > 0;
    if part.rows > 0 then
      rows_text := rows_text || case when as_csv or rows_text = '' then '' else ',' end || part.text;
    end if;
    work_left := work_left - cardinality(ids) - cardinality(looked) / 4 - 50;
    rows_left := rows_left - part.rows;
    if after is null then
      this_day := this_day + 1;
      after := nobody;
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.view_moved_file(view text, old_folder text, new_folder text, old_updated_at timestamp with time zone, new_updated_at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select replace(replace(view, ',"folder":' || to_json(old_folder), ',"folder":' || to_json(new_folder)),
    ',"updated_at":"' || to_iso(old_updated_at), ',"updated_at":"' || to_iso(new_updated_at))
$function$;

CREATE OR REPLACE FUNCTION public.view_user(project uuid, of_user uuid)
 RETURNS json
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select json_build_object('id', u.id, 'external_id', u.external_id, 'active', u.active,
    'plan', case when p.id is not null then json_build_object('id', p.id, 'name', p.name, 'description', p.description,
      'storageLimit', p.storage_limit, 'maxFileSize', p.max_file_size, 'allowedMimes', p.allowed_mimes, 'maxFiles', p.max_files,
      'maxSpaces', p.max_spaces, 'is_default', p.is_default, 'created_at', to_iso(p.created_at), 'updated_at', to_iso(p.updated_at)) end,
    'storageUsed', u.used_bytes, 'storageReserved', u.reserved_bytes, 'storageLimit', p.storage_limit,
    'storageAvailable', case when p.storage_limit is not null
      then greatest(0, p.storage_limit - u.used_bytes - u.reserved_bytes) end,
    'usagePercent', case when p.storage_limit is null or u.used_bytes = 0 then 0 when p.storage_limit = 0 then 100
      else floor(u.used_bytes::float8 / p.storage_limit::float8 * 10000 + 0.5) / 100 end,
    'overQuota', coalesce(u.used_bytes > p.storage_limit, false),
    'created_at', to_iso(u.created_at), 'updated_at', to_iso(u.updated_at))
  from users u left join plans p on p.project_id = u.project_id and p.id = coalesce(u.plan_id,
    (select d.id from plans d where d.project_id = u.project_id and d.is_default))
  where u.project_id = project and u.id = of_user);
end $function$;

CREATE OR REPLACE FUNCTION public.word_similarity(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$word_similarity$function$;

CREATE OR REPLACE FUNCTION public.word_similarity_commutator_op(text, text)
 RETURNS boolean
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$word_similarity_commutator_op$function$;

CREATE OR REPLACE FUNCTION public.word_similarity_dist_commutator_op(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$word_similarity_dist_commutator_op$function$;

CREATE OR REPLACE FUNCTION public.word_similarity_dist_op(text, text)
 RETURNS real
 LANGUAGE c
 IMMUTABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$word_similarity_dist_op$function$;

CREATE OR REPLACE FUNCTION public.word_similarity_op(text, text)
 RETURNS boolean
 LANGUAGE c
 STABLE PARALLEL SAFE STRICT
AS '$libdir/pg_trgm', $function$word_similarity_op$function$;

CREATE OR REPLACE FUNCTION public.write_file_view()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.view := '{"id":"' || new.id || '","user_id":"' || new.user_id
    || '","space_id":' || coalesce('"' || new.space_id || '"', 'null')
    || ',"name":' || to_json(new.name) || ',"size":' || new.size
    || ',"mimeType":' || to_json(new.mime_type) || ',"storageKey":' || to_json(new.storage_key)
    || ',"sha256":' || coalesce('"' || encode(new.sha256, 'hex') || '"', 'null') || ',"folder":' || to_json(new.folder)
    || ',"tags":' || to_json(new.tags) || ',"classifier":' || coalesce(to_json(new.classifier)::text, 'null')
    || ',"metadata":' || new.metadata::text || ',"visibility":"' || new.visibility
    || '","created_at":"' || left(replace((new.created_at at time zone 'utc' + '100 microseconds')::text, ' ', 'T'), 23)
    || 'Z","updated_at":"' || left(replace((new.updated_at at time zone 'utc' + '100 microseconds')::text, ' ', 'T'), 23)
    || 'Z",' || coalesce('"expires_at":"' || to_iso(new.expires_at) || '",', '')
    || coalesce('"retain_until":"' || to_iso(new.retain_until) || '",', '') || '"compression":';
  return new;
end $function$;
