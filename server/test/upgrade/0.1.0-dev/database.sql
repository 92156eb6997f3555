-- A database with the migrations of development (0001 to 0016) and files in it, by pg_dump --inserts.
--
-- PostgreSQL database dump
--

-- Dumped from database version 15.19 (Debian 15.19-0+deb12u1)
-- Dumped by pg_dump version 15.19 (Debian 15.19-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA pgboss;

CREATE TYPE pgboss.job_state AS ENUM (
    'created',
    'retry',
    'active',
    'completed',
    'cancelled',
    'failed'
);

CREATE TYPE public.new_file AS (
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
	shelf text,
	sha256 bytea,
	created_at timestamp(3) with time zone,
	updated_at timestamp(3) with time zone
);

CREATE FUNCTION pgboss.create_queue(queue_name text, options json) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    DECLARE
      table_name varchar := 'j' || encode(sha224(queue_name::bytea), 'hex');
      queue_created_on timestamptz;
    BEGIN

      WITH q as (
      INSERT INTO pgboss.queue (
        name,
        policy,
        retry_limit,
        retry_delay,
        retry_backoff,
        expire_seconds,
        retention_minutes,
        dead_letter,
        partition_name
      )
      VALUES (
        queue_name,
        options->>'policy',
        (options->>'retryLimit')::int,
        (options->>'retryDelay')::int,
        (options->>'retryBackoff')::bool,
        (options->>'expireInSeconds')::int,
        (options->>'retentionMinutes')::int,
        options->>'deadLetter',
        table_name
      )
      ON CONFLICT DO NOTHING
      RETURNING created_on
      )
      SELECT created_on into queue_created_on from q;

      IF queue_created_on IS NULL THEN
        RETURN;
      END IF;

      EXECUTE format('CREATE TABLE pgboss.%I (LIKE pgboss.job INCLUDING DEFAULTS)', table_name);

      EXECUTE format('ALTER TABLE pgboss.%1$I ADD PRIMARY KEY (name, id)', table_name);
      EXECUTE format('ALTER TABLE pgboss.%1$I ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED', table_name);
      EXECUTE format('ALTER TABLE pgboss.%1$I ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED', table_name);
      EXECUTE format('CREATE UNIQUE INDEX %1$s_i1 ON pgboss.%1$I (name, COALESCE(singleton_key, '''')) WHERE state = ''created'' AND policy = ''short''', table_name);
      EXECUTE format('CREATE UNIQUE INDEX %1$s_i2 ON pgboss.%1$I (name, COALESCE(singleton_key, '''')) WHERE state = ''active'' AND policy = ''singleton''', table_name);
      EXECUTE format('CREATE UNIQUE INDEX %1$s_i3 ON pgboss.%1$I (name, state, COALESCE(singleton_key, '''')) WHERE state <= ''active'' AND policy = ''stately''', table_name);
      EXECUTE format('CREATE UNIQUE INDEX %1$s_i4 ON pgboss.%1$I (name, singleton_on, COALESCE(singleton_key, '''')) WHERE state <> ''cancelled'' AND singleton_on IS NOT NULL', table_name);
      EXECUTE format('CREATE INDEX %1$s_i5 ON pgboss.%1$I (name, start_after) INCLUDE (priority, created_on, id) WHERE state < ''active''', table_name);

      EXECUTE format('ALTER TABLE pgboss.%I ADD CONSTRAINT cjc CHECK (name=%L)', table_name, queue_name);
      EXECUTE format('ALTER TABLE pgboss.job ATTACH PARTITION pgboss.%I FOR VALUES IN (%L)', table_name, queue_name);
    END;
    $_$;

CREATE FUNCTION pgboss.delete_queue(queue_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      table_name varchar;
    BEGIN
      WITH deleted as (
        DELETE FROM pgboss.queue
        WHERE name = queue_name
        RETURNING partition_name
      )
      SELECT partition_name from deleted INTO table_name;

      EXECUTE format('DROP TABLE IF EXISTS pgboss.%I', table_name);
    END;
    $$;

CREATE FUNCTION public.delete_file(project_id uuid, user_id uuid, space_id uuid, file_id uuid, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text) RETURNS TABLE(storage_key text, shelf text)
    LANGUAGE plpgsql
    AS $_$
#variable_conflict use_column
declare
  gone record;
begin
  perform from projects p where p.id = $1 for key share;
  perform from users u where u.project_id = $1 and u.id = $2 for no key update;
  -- The space before the file: the order of locks.
  perform from spaces s where s.project_id = $1
    and s.id = (select f.space_id from files f where f.id = $4 and f.project_id = $1) for no key update;
  delete from files f
    where f.project_id = $1 and f.user_id = $2 and f.id = $4 and ($3 is null or f.space_id = $3)
    returning f.id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.shelf into gone;
  if not found then return; end if;
  update users u set used_bytes = u.used_bytes - gone.size, file_count = u.file_count - 1
    where u.id = gone.user_id and u.project_id = $1;
  update spaces s set used_bytes = s.used_bytes - gone.size, file_count = s.file_count - 1
    where s.id = gone.space_id and s.project_id = $1;
  insert into doomed_objects (shelf, storage_key, file_id, due_at)
    values (gone.shelf, gone.storage_key, gone.id, now()) on conflict do nothing;
  perform record_audit($1, $5, $6, $7, $8, $9, 'file.delete', 'file', gone.id::text, gone.user_id,
    jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
  return query select gone.storage_key, gone.shelf;
end $_$;

CREATE FUNCTION public.files_allowed(max_files bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$select coalesce(max_files, 10000000)$$;

CREATE FUNCTION public.note_file() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'UPDATE' then
    insert into stat_deltas values (old.project_id, 'visibility', old.visibility, -1, -old.size),
      (old.project_id, 'mime_type', old.mime_type, -1, -old.size),
      (old.project_id, 'classifier', coalesce(old.classifier, ''), -1, -old.size);
  end if;
  insert into stat_deltas values (new.project_id, 'visibility', new.visibility, 1, new.size),
    (new.project_id, 'mime_type', new.mime_type, 1, new.size),
    (new.project_id, 'classifier', coalesce(new.classifier, ''), 1, new.size);
  return null;
end $$;

CREATE FUNCTION public.note_files_gone() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into stat_deltas
    select f.project_id, d.dimension, d.value, -count(*), -sum(f.size)
    from gone f cross join lateral (values ('visibility', f.visibility), ('mime_type', f.mime_type),
      ('classifier', coalesce(f.classifier, ''))) d(dimension, value)
    group by 1, 2, 3;
  return null;
end $$;

CREATE FUNCTION public.note_job() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op <> 'INSERT' then
    insert into stat_deltas values (old.project_id, 'jobs', old.status, -1, 0);
  end if;
  if tg_op <> 'DELETE' then
    insert into stat_deltas values (new.project_id, 'jobs', new.status, 1, 0);
  end if;
  return null;
end $$;

CREATE FUNCTION public.note_users() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'INSERT' then
    insert into stat_deltas select project_id, 'users', '', count(*), 0 from added group by project_id;
  else
    insert into stat_deltas select project_id, 'users', '', -count(*), 0 from gone group by project_id;
  end if;
  return null;
end $$;

CREATE FUNCTION public.record_audit(project_id uuid, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text, action text, resource_type text, resource_id text, user_id uuid, metadata jsonb) RETURNS boolean
    LANGUAGE plpgsql
    SET lock_timeout TO '250ms'
    AS $_$
begin
  insert into audit_logs
    (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id, metadata)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, '{}'));
  return true;
exception when others then
  raise warning 'audit row for % not recorded: %', action, sqlerrm;
  return false;
end $_$;

CREATE FUNCTION public.record_uploads(batch jsonb, stored public.new_file[]) RETURNS boolean
    LANGUAGE plpgsql
    SET lock_timeout TO '250ms'
    AS $$
begin
  insert into audit_logs
    (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id, metadata)
  select f.project_id, e ->> 'actor_type', (e ->> 'actor_id')::uuid, e ->> 'actor_key_id', e ->> 'ip_address',
    e ->> 'user_agent', 'file.upload', 'file', f.id::text, f.user_id,
    jsonb_build_object('new', jsonb_build_object('name', f.name, 'size', f.size, 'mimeType', f.mime_type,
      'folder', f.folder, 'visibility', f.visibility, 'space_id', f.space_id))
  from jsonb_array_elements(batch) e join unnest(stored) f on f.id = (e -> 'file' ->> 'id')::uuid;
  return true;
exception when others then
  raise warning 'audit rows of % files not recorded: %', cardinality(stored), sqlerrm;
  return false;
end $$;

CREATE FUNCTION public.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'DELETE' and current_setting('pakhus.audit_purge', true) = 'on' then
    return old;
  end if;
  raise exception 'audit rows are immutable' using errcode = 'restrict_violation';
end $$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.files (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    user_id uuid NOT NULL,
    space_id uuid,
    name text NOT NULL,
    size bigint NOT NULL,
    mime_type text NOT NULL COLLATE pg_catalog."C",
    storage_key text NOT NULL,
    folder text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    classifier text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    visibility text DEFAULT 'private'::text NOT NULL,
    shelf text DEFAULT 'private'::text NOT NULL,
    sha256 bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT files_shelf_check CHECK ((shelf = ANY (ARRAY['private'::text, 'public'::text]))),
    CONSTRAINT files_size_check CHECK ((size >= 0)),
    CONSTRAINT files_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'public'::text])))
);
ALTER TABLE ONLY public.files ALTER COLUMN tags SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.files ALTER COLUMN metadata SET STORAGE EXTERNAL;

CREATE FUNCTION public.store_file(file public.files, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text, OUT outcome text, OUT stored_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    AS $$
begin
  select stored.outcome, stored.stored_at into outcome, stored_at
    from store_file(jsonb_populate_record(null::new_file, to_jsonb(file)), actor_type, actor_id, actor_key_id,
      ip_address, user_agent) stored;
end $$;

CREATE FUNCTION public.store_file(file public.new_file, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text, OUT outcome text, OUT stored_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  owner record;
  space_active boolean;
  space_wanted bigint;
  space_limit bigint;
begin
  -- Before the user: the file's row will refer to the project, whose deletion goes through its users.
  perform from projects p where p.id = file.project_id for key share;
  -- By a statement of its own: one that joins and locks at once looks again at the user alone after it has waited,
  -- beside the plan that it had found before.
  perform from users u where u.project_id = file.project_id and u.id = file.user_id for no key update;
  select u.active, u.used_bytes + file.size as wanted, u.file_count, p.storage_limit, p.max_files into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = file.project_id and u.id = file.user_id;
  if not found then outcome := 'no user'; return; end if;
  if not owner.active then outcome := 'inactive user'; return; end if;
  if file.space_id is not null then
    select s.active, s.used_bytes + file.size, s.limit_bytes into space_active, space_wanted, space_limit
      from spaces s where s.project_id = file.project_id and s.user_id = file.user_id and s.id = file.space_id
      for no key update;
    if not found then outcome := 'no space'; return; end if;
    if not space_active then outcome := 'inactive space'; return; end if;
  end if;
  if owner.wanted > owner.storage_limit then outcome := 'user limit'; return; end if;
  if space_wanted > space_limit then outcome := 'space limit'; return; end if;
  if owner.file_count >= files_allowed(owner.max_files) then outcome := 'file count'; return; end if;
  delete from doomed_objects d
    where d.storage_key = file.storage_key and d.shelf = file.shelf and d.claimed_until is null;
  if not found then outcome := 'object lost'; return; end if;

  update users set used_bytes = owner.wanted, file_count = users.file_count + 1
    where id = file.user_id and project_id = file.project_id;
  if file.space_id is not null then
    update spaces set used_bytes = space_wanted, file_count = spaces.file_count + 1
      where id = file.space_id and project_id = file.project_id;
  end if;
  insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, shelf, sha256, created_at, updated_at)
    values (file.id, file.project_id, file.user_id, file.space_id, file.name, file.size, file.mime_type,
      file.storage_key, file.folder, file.tags, file.classifier, file.metadata, file.visibility, file.shelf,
      file.sha256, file.created_at, file.updated_at);
  perform record_audit(file.project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent,
    'file.upload', 'file', file.id::text, file.user_id,
    jsonb_build_object('new', jsonb_build_object('name', file.name, 'size', file.size, 'mimeType', file.mime_type,
      'folder', file.folder, 'visibility', file.visibility, 'space_id', file.space_id)));
  outcome := 'stored';
  stored_at := file.created_at;
end $$;

CREATE FUNCTION public.store_files(batch jsonb, OUT number bigint, OUT outcome text, OUT stored_at timestamp with time zone) RETURNS SETOF record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
declare
  blank new_file;
  asked new_file[];
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  free new_file[];
  certain new_file[];
  kept text[];
  free_ids uuid[];
  stored_ids uuid[];
  entry record;
begin
  blank.created_at := now();
  blank.updated_at := now();
  asked := array(select jsonb_populate_record(blank, e -> 'file') from jsonb_array_elements(batch) e);
  free_projects := array(select p.id from projects p
    where p.id = any(array(select f.project_id from unnest(asked) f)) for key share skip locked);
  free_users := array(select u.id from users u
    where u.id = any(array(select f.user_id from unnest(asked) f)) for no key update skip locked);
  free_spaces := array(select s.id from spaces s
    where s.id = any(array(select f.space_id from unnest(asked) f)) for no key update skip locked);
  free := array(select f from unnest(asked) f
    where f.project_id = any(free_projects) and f.user_id = any(free_users)
      and (f.space_id is null or f.space_id = any(free_spaces)));

  certain := array(
    with users_with_room as (
      select u.id, u.project_id
      from (select project_id, user_id, sum(size) as bytes, count(*) as files from unnest(free) group by 1, 2) wanted
      join users u on u.id = wanted.user_id and u.project_id = wanted.project_id
      left join plans p on p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default))
      where u.active and (p.storage_limit is null or u.used_bytes + wanted.bytes <= p.storage_limit)
        and u.file_count + wanted.files <= files_allowed(p.max_files)),
    spaces_with_room as (
      select s.id, s.user_id
      from (select space_id, sum(size) as bytes from unnest(free) where space_id is not null group by 1) wanted
      join spaces s on s.id = wanted.space_id
      where s.active and (s.limit_bytes is null or s.used_bytes + wanted.bytes <= s.limit_bytes))
    select f from unnest(free) f join users_with_room u on u.id = f.user_id and u.project_id = f.project_id
    where f.space_id is null
      or exists (select from spaces_with_room s where s.id = f.space_id and s.user_id = f.user_id));
  with reserved as (
    delete from doomed_objects d
    where d.storage_key = any(array(select f.storage_key from unnest(certain) f)) and d.claimed_until is null
      and (d.storage_key, d.shelf) in (select f.storage_key, f.shelf from unnest(certain) f)
    returning d.storage_key)
  select array_agg(storage_key) into kept from reserved;
  certain := array(select f from unnest(certain) f where f.storage_key = any(kept));

  update users u set used_bytes = u.used_bytes + added.bytes, file_count = u.file_count + added.files
    from (select user_id, sum(size)::bigint as bytes, count(*) as files from unnest(certain) group by 1) added
    where u.id = added.user_id;
  update spaces s set used_bytes = s.used_bytes + added.bytes, file_count = s.file_count + added.files
    from (select space_id, sum(size)::bigint as bytes, count(*) as files from unnest(certain) group by 1) added
    where s.id = added.space_id;
  insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, shelf, sha256, created_at, updated_at)
    select f.id, f.project_id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder, f.tags,
      f.classifier, f.metadata, f.visibility, f.shelf, f.sha256, f.created_at, f.updated_at
    from unnest(certain) f;
  perform record_uploads(batch, certain);

  free_ids := array(select f.id from unnest(free) f);
  stored_ids := array(select f.id from unnest(certain) f);
  for entry in
    select e.value, e.ordinality, (e.value -> 'file' ->> 'id')::uuid as file_id
    from jsonb_array_elements(batch) with ordinality e
  loop
    number := entry.ordinality;
    outcome := 'passed over';
    stored_at := null;
    if entry.file_id = any(stored_ids) then
      outcome := 'stored';
      stored_at := blank.created_at;
    elsif entry.file_id = any(free_ids) then
      select stored.outcome, stored.stored_at into outcome, stored_at
        from store_file(jsonb_populate_record(blank, entry.value -> 'file'), entry.value ->> 'actor_type',
          (entry.value ->> 'actor_id')::uuid, entry.value ->> 'actor_key_id', entry.value ->> 'ip_address',
          entry.value ->> 'user_agent') stored;
    end if;
    return next;
  end loop;
end $$;

CREATE FUNCTION public.usage_bucket(bytes bigint) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when bytes < 16 then bytes::integer
    else floor(16 * ln(bytes::float8) / ln(2::float8))::integer - 48 end
$$;

CREATE TABLE pgboss.archive (
    id uuid NOT NULL,
    name text NOT NULL,
    priority integer NOT NULL,
    data jsonb,
    state pgboss.job_state NOT NULL,
    retry_limit integer NOT NULL,
    retry_count integer NOT NULL,
    retry_delay integer NOT NULL,
    retry_backoff boolean NOT NULL,
    start_after timestamp with time zone NOT NULL,
    started_on timestamp with time zone,
    singleton_key text,
    singleton_on timestamp without time zone,
    expire_in interval NOT NULL,
    created_on timestamp with time zone NOT NULL,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    archived_on timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE pgboss.job (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    singleton_key text,
    singleton_on timestamp without time zone,
    expire_in interval DEFAULT '00:15:00'::interval NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '14 days'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text
)
PARTITION BY LIST (name);

CREATE TABLE pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    singleton_key text,
    singleton_on timestamp without time zone,
    expire_in interval DEFAULT '00:15:00'::interval NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '14 days'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    CONSTRAINT cjc CHECK ((name = 'auth.forgot_password'::text))
);

CREATE TABLE pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    singleton_key text,
    singleton_on timestamp without time zone,
    expire_in interval DEFAULT '00:15:00'::interval NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '14 days'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    CONSTRAINT cjc CHECK ((name = 'mail.send'::text))
);

CREATE TABLE pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    singleton_key text,
    singleton_on timestamp without time zone,
    expire_in interval DEFAULT '00:15:00'::interval NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '14 days'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    CONSTRAINT cjc CHECK ((name = 'images.compress'::text))
);

CREATE TABLE pgboss.queue (
    name text NOT NULL,
    policy text,
    retry_limit integer,
    retry_delay integer,
    retry_backoff boolean,
    expire_seconds integer,
    retention_minutes integer,
    dead_letter text,
    partition_name text,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE pgboss.schedule (
    name text NOT NULL,
    cron text NOT NULL,
    timezone text,
    data jsonb,
    options jsonb,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE pgboss.subscription (
    event text NOT NULL,
    name text NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE pgboss.version (
    version integer NOT NULL,
    maintained_on timestamp with time zone,
    cron_on timestamp with time zone,
    monitored_on timestamp with time zone
);

CREATE TABLE public.accounts (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id uuid,
    email text NOT NULL,
    email_key text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    device_generation integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id uuid NOT NULL,
    integration_id uuid,
    name text,
    key_hash bytea NOT NULL,
    key_prefix text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    last_used_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.audit_logs (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id uuid,
    actor_type text NOT NULL,
    actor_id uuid,
    actor_key_id text,
    user_id uuid,
    action text NOT NULL,
    resource_type text,
    resource_id text,
    ip_address text,
    user_agent text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT audit_logs_actor_type_check CHECK ((actor_type = ANY (ARRAY['admin'::text, 'project'::text, 'integration'::text])))
);

CREATE TABLE public.compression_jobs (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    user_id uuid NOT NULL,
    file_id uuid NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    recipe jsonb NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    original_size bigint NOT NULL,
    result_sha256 bytea,
    compressed_size bigint,
    format text,
    width integer,
    height integer,
    error text,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    claim integer DEFAULT 0 NOT NULL,
    alone boolean DEFAULT false NOT NULL,
    deaths_alone integer DEFAULT 0 NOT NULL,
    CONSTRAINT compression_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'done'::text, 'failed'::text])))
);

CREATE TABLE public.daily_stats (
    project_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    day date NOT NULL,
    requests bigint DEFAULT 0 NOT NULL,
    errors bigint DEFAULT 0 NOT NULL,
    uploads bigint DEFAULT 0 NOT NULL,
    downloads bigint DEFAULT 0 NOT NULL,
    deletes bigint DEFAULT 0 NOT NULL,
    bytes_in bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.doomed_objects (
    shelf text NOT NULL,
    storage_key text NOT NULL,
    file_id uuid NOT NULL,
    due_at timestamp(3) with time zone NOT NULL,
    claimed_until timestamp(3) with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    CONSTRAINT doomed_objects_shelf_check CHECK ((shelf = ANY (ARRAY['private'::text, 'public'::text])))
);

CREATE TABLE public.folded_batches (
    id text NOT NULL,
    folded_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.integrations (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id uuid NOT NULL,
    name text,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    cors_origins text[] DEFAULT '{}'::text[] NOT NULL,
    dev_mode boolean DEFAULT false NOT NULL,
    rate_limit_max bigint,
    rate_limit_window bigint,
    active boolean DEFAULT true NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT integrations_rate_limit_max_check CHECK ((rate_limit_max >= 1)),
    CONSTRAINT integrations_rate_limit_window_check CHECK ((rate_limit_window >= 1000))
);

CREATE TABLE public.login_challenges (
    jti uuid NOT NULL,
    account_id uuid NOT NULL,
    failures smallint DEFAULT 0 NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.migrations (
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.password_resets (
    token_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.plans (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    storage_limit bigint,
    max_file_size bigint NOT NULL,
    allowed_mimes text[] DEFAULT '{}'::text[] NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    max_files bigint,
    max_spaces bigint,
    CONSTRAINT plans_max_file_size_check CHECK ((max_file_size >= 0)),
    CONSTRAINT plans_max_files_check CHECK ((max_files >= 0)),
    CONSTRAINT plans_max_spaces_check CHECK ((max_spaces >= 0)),
    CONSTRAINT plans_storage_limit_check CHECK ((storage_limit >= 0))
);

CREATE TABLE public.projects (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    rate_limit_max bigint,
    rate_limit_window bigint,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT projects_rate_limit_max_check CHECK ((rate_limit_max >= 1)),
    CONSTRAINT projects_rate_limit_window_check CHECK ((rate_limit_window >= 1000))
);

CREATE TABLE public.recovery_codes (
    account_id uuid NOT NULL,
    code_hash bytea NOT NULL
);

CREATE TABLE public.revoked_tokens (
    jti uuid NOT NULL,
    subject_id uuid NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.schedules (
    name text NOT NULL,
    due_at timestamp with time zone NOT NULL
);

CREATE TABLE public.sessions (
    jti uuid NOT NULL,
    account_id uuid NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.settings (
    key text NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.spaces (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id uuid NOT NULL,
    user_id uuid NOT NULL,
    external_id text NOT NULL,
    name text NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    limit_bytes bigint,
    used_bytes bigint DEFAULT 0 NOT NULL,
    file_count bigint DEFAULT 0 NOT NULL,
    active boolean DEFAULT true NOT NULL,
    password_hash text,
    session_jti uuid,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    password_scopes text[],
    CONSTRAINT spaces_file_count_check CHECK ((file_count >= 0)),
    CONSTRAINT spaces_limit_bytes_check CHECK ((limit_bytes >= 0)),
    CONSTRAINT spaces_used_bytes_check CHECK ((used_bytes >= 0))
);

CREATE TABLE public.stat_deltas (
    project_id uuid NOT NULL,
    dimension text NOT NULL,
    value text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    bytes bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');

CREATE TABLE public.stat_totals (
    project_id uuid NOT NULL,
    dimension text NOT NULL,
    value text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    bytes bigint NOT NULL
);

CREATE TABLE public.two_factors (
    account_id uuid NOT NULL,
    key_id text NOT NULL,
    sealed_secret bytea NOT NULL,
    activated_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.used_totp_steps (
    account_id uuid NOT NULL,
    step bigint NOT NULL
);

CREATE TABLE public.users (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id uuid NOT NULL,
    external_id text NOT NULL,
    plan_id uuid,
    active boolean DEFAULT true NOT NULL,
    used_bytes bigint DEFAULT 0 NOT NULL,
    file_count bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    usage_bucket integer GENERATED ALWAYS AS (public.usage_bucket(used_bytes)) STORED NOT NULL,
    CONSTRAINT users_file_count_check CHECK ((file_count >= 0)),
    CONSTRAINT users_used_bytes_check CHECK ((used_bytes >= 0))
);

ALTER TABLE ONLY pgboss.job ATTACH PARTITION pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 FOR VALUES IN ('auth.forgot_password');

ALTER TABLE ONLY pgboss.job ATTACH PARTITION pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 FOR VALUES IN ('mail.send');

ALTER TABLE ONLY pgboss.job ATTACH PARTITION pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 FOR VALUES IN ('images.compress');

INSERT INTO pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 VALUES
	('34bdf514-a466-41ae-87da-4b8e36790af6', 'images.compress', 0, '{"jobId": "34bdf514-a466-41ae-87da-4b8e36790af6", "uploader": {"action": "file.upload", "actorId": "88a33ae1-49c7-49ad-9d1e-30a217c1a8a7", "actorType": "project", "ipAddress": "127.0.0.1", "projectId": "88a33ae1-49c7-49ad-9d1e-30a217c1a8a7", "userAgent": "node", "actorKeyId": "66760c56-e791-4174-8cc8-46a1d44b20bd"}, "projectId": "88a33ae1-49c7-49ad-9d1e-30a217c1a8a7"}', 'completed', 1000000, 0, 1, true, '2026-11-17 00:34:07.60325+00', '2026-11-17 00:34:07.615884+00', NULL, NULL, '00:01:05', '2026-11-17 00:34:07.60325+00', '2026-11-17 00:34:07.873268+00', '2036-11-14 00:34:07.60325+00', NULL, NULL, 'standard'),
	('cec66512-b5ad-47e1-be1b-96a18095dec8', 'images.compress', 0, '{"jobId": "cec66512-b5ad-47e1-be1b-96a18095dec8", "uploader": {"action": "file.upload", "actorId": "88a33ae1-49c7-49ad-9d1e-30a217c1a8a7", "actorType": "project", "ipAddress": "127.0.0.1", "projectId": "88a33ae1-49c7-49ad-9d1e-30a217c1a8a7", "userAgent": "node", "actorKeyId": "66760c56-e791-4174-8cc8-46a1d44b20bd"}, "projectId": "88a33ae1-49c7-49ad-9d1e-30a217c1a8a7"}', 'created', 1000000, 0, 1, true, '2026-11-17 00:34:09.704586+00', NULL, NULL, NULL, '00:01:05', '2026-11-17 00:34:09.704586+00', NULL, '2036-11-14 00:34:09.704586+00', NULL, NULL, 'standard');

INSERT INTO pgboss.queue VALUES
	('images.compress', 'standard', 1000000, 1, true, 65, 5256000, NULL, 'j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4', '2026-11-17 00:34:06.532318+00', '2026-11-17 00:34:09.283799+00'),
	('auth.forgot_password', 'standard', 8, 1, true, 60, 5256000, NULL, 'j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849', '2026-11-17 00:34:06.546198+00', '2026-11-17 00:34:09.286159+00'),
	('mail.send', 'standard', 14, 1, true, 90, 5256000, NULL, 'j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53', '2026-11-17 00:34:06.557232+00', '2026-11-17 00:34:09.287757+00');

INSERT INTO pgboss.version VALUES
	(24, NULL, NULL, NULL);

INSERT INTO public.accounts VALUES
	('49988107-9436-480b-8b58-5f433a2edc7d', NULL, 'admin@pakhus.local', 'admin@pakhus.local', '$argon2id$v=19$m=19456,t=2,p=1$lc/zKL7RO6k8lordp25SuA$DiJeAi6FHcUXRTMDQtd2G+NVuPlQgFl+ETu9M31UyWk', '2026-11-17 00:34:06.446+00', '2026-11-17 00:34:06.446+00', 0),
	('6ebafc97-4c1b-4eaa-a27f-f0d50290835e', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'owner@example.com', 'owner@example.com', '$argon2id$v=19$m=19456,t=2,p=1$hSbr7vS26Yk9bncASnT3hw$TuNR6gXBnsF6DMP7GWocMg5yTVjY0gqoB0l3WKytHEg', '2026-11-17 00:34:07.261+00', '2026-11-17 00:34:07.261+00', 0),
	('5d9464c2-b808-43dc-a2ac-e6b4924029bd', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'quay@example.com', 'quay@example.com', '$argon2id$v=19$m=19456,t=2,p=1$S560x7m5T7+gzUZ1n1tvoA$X/k8zeZ69mcrsg7wJTJq8/+7yN659hs2XkG8XKMRB2Y', '2026-11-17 00:34:07.314+00', '2026-11-17 00:34:07.314+00', 0);

INSERT INTO public.api_keys VALUES
	('66760c56-e791-4174-8cc8-46a1d44b20bd', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', NULL, NULL, '\x8c48632e95d0f75fac19076b83567e86ec542282e041689a63b8fee3bd3a03a5', 'pak_8a95039c', true, '2026-11-17 00:34:07.329+00', '2026-11-17 00:34:07.261+00', '2026-11-17 00:34:07.261+00'),
	('17ef5bb9-eefe-4660-a553-2fe0822b7ffe', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '480798de-1513-4c5c-b284-cd8979c5e979', NULL, '\x240f8c93444e3ab6d6b422b2acf416d9cdd79489248a3db43e4ab140a84f6b19', 'pak_1429d302', true, NULL, '2026-11-17 00:34:07.365+00', '2026-11-17 00:34:07.365+00'),
	('38140029-48df-400a-a27e-7f7145075fd2', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', NULL, NULL, '\x5d0d4e4723c65cdceed41e77ea9cd32f7710b3954634908b0a9eae3798591c2d', 'pak_e6d3625b', true, '2026-11-17 00:34:07.393+00', '2026-11-17 00:34:07.314+00', '2026-11-17 00:34:07.314+00');

INSERT INTO public.audit_logs VALUES
	('6d1fed7d-f3d7-4db2-91eb-16d9e87d9128', NULL, 'admin', '49988107-9436-480b-8b58-5f433a2edc7d', 'e8add08f-3ade-436e-bafd-f7a57804e48c', NULL, 'auth.login', 'account', '49988107-9436-480b-8b58-5f433a2edc7d', '127.0.0.1', 'node', '{}', '2026-11-17 00:34:07.196+00'),
	('dfe8f079-782e-4442-aa7e-63616e230ae5', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'admin', '49988107-9436-480b-8b58-5f433a2edc7d', 'e8add08f-3ade-436e-bafd-f7a57804e48c', NULL, 'project.create', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '127.0.0.1', 'node', '{"new": {"name": "Harbour", "email": "owner@example.com"}}', '2026-11-17 00:34:07.266+00'),
	('9ecb85c2-40e5-40f2-baeb-0d7270068e0b', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'admin', '49988107-9436-480b-8b58-5f433a2edc7d', 'e8add08f-3ade-436e-bafd-f7a57804e48c', NULL, 'project.create', 'project', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', '127.0.0.1', 'node', '{"new": {"name": "Quay", "email": "quay@example.com"}}', '2026-11-17 00:34:07.316+00'),
	('b6fbaa09-ff8c-414b-ab8b-7e6cab0817e9', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', NULL, 'plan.create', 'plan', '5d4599ef-68fa-4a44-b288-f923bf476c67', '127.0.0.1', 'node', '{"new": {"name": "Standard", "maxFiles": null, "maxSpaces": null, "description": null, "maxFileSize": 10485760, "allowedMimes": [], "storageLimit": 1073741824}}', '2026-11-17 00:34:07.334+00'),
	('9e13a978-cd24-4b1c-9294-2c65f2f9fa6e', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'user.create', 'user', '5834080a-9c2f-4f6e-8b54-5db6b9071603', '127.0.0.1', 'node', '{"new": {"plan_id": "5d4599ef-68fa-4a44-b288-f923bf476c67", "external_id": "anna"}}', '2026-11-17 00:34:07.349+00'),
	('52e20d3b-2bc0-43ac-9e83-dfa95ecdf418', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', 'd72e7981-9be5-4ca3-9dab-277c4e5a0594', 'user.create', 'user', 'd72e7981-9be5-4ca3-9dab-277c4e5a0594', '127.0.0.1', 'node', '{"new": {"plan_id": "5d4599ef-68fa-4a44-b288-f923bf476c67", "external_id": "bob"}}', '2026-11-17 00:34:07.358+00'),
	('b312f64f-8312-43d9-b665-44b4ba4300d5', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', NULL, 'integration.create', 'integration', '480798de-1513-4c5c-b284-cd8979c5e979', '127.0.0.1', 'node', '{"new": {"name": "web", "active": true, "scopes": ["files:read", "files:write"], "devMode": false, "corsOrigins": [], "rateLimitMax": null, "rateLimitWindow": null}}', '2026-11-17 00:34:07.369+00'),
	('4e3b9996-b36f-41ae-8851-2801d90e6057', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'space.create', 'space', '2416eacb-5ed1-40f7-8010-01640708eb9e', '127.0.0.1', 'node', '{"new": {"name": "Room", "active": true, "scopes": [], "external_id": "room", "limit_bytes": 1000000}}', '2026-11-17 00:34:07.386+00'),
	('a96d6461-690b-4581-80e1-cdd71d92ce46', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'project', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', '38140029-48df-400a-a27e-7f7145075fd2', NULL, 'plan.create', 'plan', '025d8e04-af73-4b26-b9bc-169625e50a5e', '127.0.0.1', 'node', '{"new": {"name": "Standard", "maxFiles": null, "maxSpaces": null, "description": null, "maxFileSize": 10485760, "allowedMimes": [], "storageLimit": null}}', '2026-11-17 00:34:07.397+00'),
	('5a77254c-c915-4a6b-8ec5-3bb745cf453c', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'project', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', '38140029-48df-400a-a27e-7f7145075fd2', '25854fb4-8343-4b23-8329-3832f633d2e5', 'user.create', 'user', '25854fb4-8343-4b23-8329-3832f633d2e5', '127.0.0.1', 'node', '{"new": {"plan_id": "025d8e04-af73-4b26-b9bc-169625e50a5e", "external_id": "carl"}}', '2026-11-17 00:34:07.407+00'),
	('b70a3a80-3e20-455e-9586-888af9495326', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.upload', 'file', 'e39dfe42-762e-40b9-9e90-0377bc5fd308', '127.0.0.1', 'node', '{"new": {"name": "note.txt", "size": 31, "folder": "letters/2026", "mimeType": "text/plain", "space_id": null, "visibility": "private"}}', '2026-11-17 00:34:07.441+00'),
	('928228c7-42be-448a-b885-5c5d21fc83c4', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.upload', 'file', '04f49952-6fc6-46d5-822b-880e782eb8e7', '127.0.0.1', 'node', '{"new": {"name": "large.bin", "size": 300000, "folder": "", "mimeType": "application/octet-stream", "space_id": null, "visibility": "private"}}', '2026-11-17 00:34:07.471+00'),
	('b07ce33a-7d99-4a4a-b488-93e2513819bd', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.upload', 'file', '8f47f0b0-b6f5-4ac6-92be-57066f3a8284', '127.0.0.1', 'node', '{"new": {"name": "public.txt", "size": 17, "folder": "", "mimeType": "text/plain", "space_id": null, "visibility": "public"}}', '2026-11-17 00:34:07.485+00'),
	('0a841982-0c98-4714-b388-53568ae39578', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.upload', 'file', '482b62cc-fd3c-4303-a334-2cdd0535b28d', '127.0.0.1', 'node', '{"new": {"name": "spaced.txt", "size": 14, "folder": "", "mimeType": "text/plain", "space_id": "2416eacb-5ed1-40f7-8010-01640708eb9e", "visibility": "private"}}', '2026-11-17 00:34:07.506+00'),
	('e7fe7b93-cb51-4f2f-b514-70d99fb63ca3', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'project', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', '38140029-48df-400a-a27e-7f7145075fd2', '25854fb4-8343-4b23-8329-3832f633d2e5', 'file.upload', 'file', '2fa349e0-3f95-4e62-b491-546f4ca365fe', '127.0.0.1', 'node', '{"new": {"name": "other.txt", "size": 18, "folder": "", "mimeType": "text/plain", "space_id": null, "visibility": "private"}}', '2026-11-17 00:34:07.525+00'),
	('5c105548-5fbb-4013-9142-073d63bd66d5', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.upload', 'file', 'dd3d99bf-6def-41a4-bd08-e5d12b397bcc', '127.0.0.1', 'node', '{"new": {"name": "green.png", "size": 203, "folder": "", "mimeType": "image/png", "space_id": null, "visibility": "private"}}', '2026-11-17 00:34:07.606+00'),
	('d99039ac-a7e2-41be-9441-f6f4b6acbffb', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.download', 'file', 'dd3d99bf-6def-41a4-bd08-e5d12b397bcc', '127.0.0.1', 'node', '{}', '2026-11-17 00:34:07.641+00'),
	('46b30232-b74b-4e09-8a4d-cb0ef94574e6', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.download', 'file', 'dd3d99bf-6def-41a4-bd08-e5d12b397bcc', '127.0.0.1', 'node', '{}', '2026-11-17 00:34:07.853+00'),
	('b5e23bd6-44b7-4e1a-9759-7f27f43cf4d4', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.download', 'file', 'dd3d99bf-6def-41a4-bd08-e5d12b397bcc', '127.0.0.1', 'node', '{}', '2026-11-17 00:34:07.862+00'),
	('5ea76b5f-c476-4c41-a5c4-c7f37467628c', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', 'd72e7981-9be5-4ca3-9dab-277c4e5a0594', 'file.upload', 'file', '52f37d43-8044-451d-8dcc-e9101728a186', '127.0.0.1', 'node', '{"new": {"name": "waiting.png", "size": 203, "folder": "", "mimeType": "image/png", "space_id": null, "visibility": "private"}}', '2026-11-17 00:34:09.711+00'),
	('332362a8-fa79-4fca-acd3-9ce6e506a24c', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.upload', 'file', '14ee1cec-20dd-4bdd-b05e-6bb2063e4693', '127.0.0.1', 'node', '{"new": {"name": "gone.txt", "size": 26, "folder": "", "mimeType": "text/plain", "space_id": null, "visibility": "private"}}', '2026-11-17 00:34:09.757+00'),
	('2a566e92-7f21-4093-93b8-5847a168e2a6', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'file.delete', 'file', '14ee1cec-20dd-4bdd-b05e-6bb2063e4693', '127.0.0.1', 'node', '{"old": {"name": "gone.txt", "size": 26, "mimeType": "text/plain"}}', '2026-11-17 00:34:09.767+00'),
	('ab3083ab-e29e-4a3b-8ed9-a44c9ac500c1', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'project', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '66760c56-e791-4174-8cc8-46a1d44b20bd', 'd72e7981-9be5-4ca3-9dab-277c4e5a0594', 'file.download', 'file', '52f37d43-8044-451d-8dcc-e9101728a186', '127.0.0.1', 'node', '{}', '2026-11-17 00:34:09.737+00');

INSERT INTO public.compression_jobs VALUES
	('34bdf514-a466-41ae-87da-4b8e36790af6', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'dd3d99bf-6def-41a4-bd08-e5d12b397bcc', 'done', '{"format": "webp", "quality": 80}', 1, 203, '\x8666ec2102812830ed63fe06470f28b3d808e95fa87667fd4ded18c4831b30f8', 78, 'webp', 64, 48, NULL, '2026-11-17 00:34:07.603+00', '2026-11-17 00:34:07.839+00', 1, false, 0),
	('cec66512-b5ad-47e1-be1b-96a18095dec8', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'd72e7981-9be5-4ca3-9dab-277c4e5a0594', '52f37d43-8044-451d-8dcc-e9101728a186', 'pending', '{"format": "webp", "quality": 80}', 0, 203, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-17 00:34:09.705+00', '2026-11-17 00:34:09.705+00', 0, false, 0);

INSERT INTO public.daily_stats VALUES
	('804cf45f-31f0-4e6c-9744-cd3e81f03f55', '25854fb4-8343-4b23-8329-3832f633d2e5', '2026-11-17', 1, 0, 1, 0, 0, 18),
	('804cf45f-31f0-4e6c-9744-cd3e81f03f55', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', '2026-11-17', 3, 0, 1, 0, 0, 18),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', '2026-11-17', 9, 0, 5, 3, 0, 300265),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '2026-11-17', 13, 0, 5, 3, 0, 300265);

INSERT INTO public.doomed_objects VALUES
	('private', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/5ccc98f8-67d2-48f0-ba7d-644c820601ef', '5ccc98f8-67d2-48f0-ba7d-644c820601ef', '2026-11-17 01:34:09.79+00', NULL, 0),
	('private', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/14ee1cec-20dd-4bdd-b05e-6bb2063e4693', '14ee1cec-20dd-4bdd-b05e-6bb2063e4693', '2026-11-17 00:34:11.345+00', NULL, 3);

INSERT INTO public.files VALUES
	('e39dfe42-762e-40b9-9e90-0377bc5fd308', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', NULL, 'note.txt', 31, 'text/plain', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/e39dfe42-762e-40b9-9e90-0377bc5fd308', 'letters/2026', '{a,b}', 'letter', '{"year": 2026}', 'private', 'private', '\xcbd16b8c3f34037ed7a89da08480be5315be1247831369b1db319d4bbeaa668f', '2026-11-17 00:34:07.433+00', '2026-11-17 00:34:07.433+00'),
	('04f49952-6fc6-46d5-822b-880e782eb8e7', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', NULL, 'large.bin', 300000, 'application/octet-stream', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/04f49952-6fc6-46d5-822b-880e782eb8e7', '', '{}', NULL, '{}', 'private', 'private', '\xdee98b68d10208a1c8248de2cbe03d883465c7469d10e9287882c121841fcaac', '2026-11-17 00:34:07.468+00', '2026-11-17 00:34:07.468+00'),
	('8f47f0b0-b6f5-4ac6-92be-57066f3a8284', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', NULL, 'public.txt', 17, 'text/plain', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/8f47f0b0-b6f5-4ac6-92be-57066f3a8284', '', '{}', NULL, '{}', 'public', 'public', '\x942a325460c76e146e527d112ea22a6ac853fee265def116fe7d470772af7c52', '2026-11-17 00:34:07.483+00', '2026-11-17 00:34:07.483+00'),
	('482b62cc-fd3c-4303-a334-2cdd0535b28d', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', '2416eacb-5ed1-40f7-8010-01640708eb9e', 'spaced.txt', 14, 'text/plain', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/482b62cc-fd3c-4303-a334-2cdd0535b28d', '', '{}', NULL, '{}', 'private', 'private', '\xdfd195df3e82ee99eb476ba661825bc0c9763931fe9df3671ccf9e5e0b50852f', '2026-11-17 00:34:07.503+00', '2026-11-17 00:34:07.503+00'),
	('2fa349e0-3f95-4e62-b491-546f4ca365fe', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', '25854fb4-8343-4b23-8329-3832f633d2e5', NULL, 'other.txt', 18, 'text/plain', '804cf45f-31f0-4e6c-9744-cd3e81f03f55/2fa349e0-3f95-4e62-b491-546f4ca365fe', '', '{}', NULL, '{}', 'private', 'private', '\xa1e76883f391c7ba5dce762bcf54274028cf27dfd81cb8dbb927f675728e9a93', '2026-11-17 00:34:07.522+00', '2026-11-17 00:34:07.522+00'),
	('dd3d99bf-6def-41a4-bd08-e5d12b397bcc', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', NULL, 'green.png', 203, 'image/png', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/dd3d99bf-6def-41a4-bd08-e5d12b397bcc', '', '{}', NULL, '{}', 'private', 'private', '\x5e3ad93439bcf7906db6eb6cf37783c63d665544ef58166e8cdbe48c359d56c0', '2026-11-17 00:34:07.603+00', '2026-11-17 00:34:07.603+00'),
	('52f37d43-8044-451d-8dcc-e9101728a186', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'd72e7981-9be5-4ca3-9dab-277c4e5a0594', NULL, 'waiting.png', 203, 'image/png', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7/52f37d43-8044-451d-8dcc-e9101728a186', '', '{}', NULL, '{}', 'private', 'private', '\x5e3ad93439bcf7906db6eb6cf37783c63d665544ef58166e8cdbe48c359d56c0', '2026-11-17 00:34:09.705+00', '2026-11-17 00:34:09.705+00');

INSERT INTO public.folded_batches VALUES
	('060a4066-ae65-4a2a-b838-a5fc9aa3da0b/0', '2026-11-17 00:34:08.166+00');

INSERT INTO public.integrations VALUES
	('480798de-1513-4c5c-b284-cd8979c5e979', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'web', '{files:read,files:write}', '{}', false, NULL, NULL, true, '2026-11-17 00:34:07.365+00', '2026-11-17 00:34:07.365+00');

INSERT INTO public.migrations VALUES
	('0001_tenants.sql', '2026-11-17 00:34:06.269144+00'),
	('0002_files.sql', '2026-11-17 00:34:06.269144+00'),
	('0003_accounts.sql', '2026-11-17 00:34:06.269144+00'),
	('0004_images.sql', '2026-11-17 00:34:06.269144+00'),
	('0005_stats.sql', '2026-11-17 00:34:06.269144+00'),
	('0006_store_files.sql', '2026-11-17 00:34:06.269144+00'),
	('0007_files_together.sql', '2026-11-17 00:34:06.269144+00'),
	('0008_ascending.sql', '2026-11-17 00:34:06.269144+00'),
	('0009_to_hide.sql', '2026-11-17 00:34:06.269144+00'),
	('0010_waiting_images.sql', '2026-11-17 00:34:06.269144+00'),
	('0011_lock_before_reading.sql', '2026-11-17 00:34:06.269144+00'),
	('0013_bounded_counts.sql', '2026-11-17 00:34:06.269144+00'),
	('0014_passwords.sql', '2026-11-17 00:34:06.269144+00'),
	('0015_pages.sql', '2026-11-17 00:34:06.269144+00'),
	('0016_cut_short.sql', '2026-11-17 00:34:06.269144+00');

INSERT INTO public.plans VALUES
	('5d4599ef-68fa-4a44-b288-f923bf476c67', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'Standard', NULL, 1073741824, 10485760, '{}', true, '2026-11-17 00:34:07.33+00', '2026-11-17 00:34:07.33+00', NULL, NULL),
	('025d8e04-af73-4b26-b9bc-169625e50a5e', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'Standard', NULL, NULL, 10485760, '{}', true, '2026-11-17 00:34:07.394+00', '2026-11-17 00:34:07.394+00', NULL, NULL);

INSERT INTO public.projects VALUES
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'Harbour', true, NULL, NULL, '2026-11-17 00:34:07.261+00', '2026-11-17 00:34:07.261+00'),
	('804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'Quay', true, NULL, NULL, '2026-11-17 00:34:07.314+00', '2026-11-17 00:34:07.314+00');

INSERT INTO public.schedules VALUES
	('tokens.purge', '2026-11-17 01:34:06.971058+00'),
	('files.move', '2026-11-17 00:34:21.97279+00'),
	('files.reap', '2026-11-17 01:34:06.973121+00'),
	('accounts.purge', '2026-11-17 01:34:06.972471+00'),
	('accounts.reseal', '2026-11-17 01:34:06.97387+00'),
	('audit.purge', '2026-11-18 00:34:06.974501+00'),
	('stats.purge', '2026-11-18 00:34:06.975555+00');

INSERT INTO public.sessions VALUES
	('e8add08f-3ade-436e-bafd-f7a57804e48c', '49988107-9436-480b-8b58-5f433a2edc7d', '2026-11-24 00:34:07+00', '2026-11-17 00:34:07.189+00');

INSERT INTO public.settings VALUES
	('installation', '"66ea7be3-453a-4a19-9b63-850e69c71a77"', '2026-11-17 00:34:06.269+00');

INSERT INTO public.spaces VALUES
	('2416eacb-5ed1-40f7-8010-01640708eb9e', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', '5834080a-9c2f-4f6e-8b54-5db6b9071603', 'room', 'Room', '{}', 1000000, 14, 1, true, NULL, NULL, '2026-11-17 00:34:07.381+00', '2026-11-17 00:34:07.381+00', NULL);

INSERT INTO public.stat_deltas VALUES
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'users', '', 1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'users', '', 1, 0),
	('804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'users', '', 1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'private', 1, 31),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'text/plain', 1, 31),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', 'letter', 1, 31),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'private', 1, 300000),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'application/octet-stream', 1, 300000),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', '', 1, 300000),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'public', 1, 17),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'text/plain', 1, 17),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', '', 1, 17),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'private', 1, 14),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'text/plain', 1, 14),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', '', 1, 14),
	('804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'visibility', 'private', 1, 18),
	('804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'mime_type', 'text/plain', 1, 18),
	('804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'classifier', '', 1, 18),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'private', 1, 203),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'image/png', 1, 203),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', '', 1, 203),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'jobs', 'pending', 1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'jobs', 'pending', -1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'jobs', 'processing', 1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'jobs', 'processing', -1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'jobs', 'done', 1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'private', 1, 203),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'image/png', 1, 203),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', '', 1, 203),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'jobs', 'pending', 1, 0),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'private', 1, 26),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'text/plain', 1, 26),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', '', 1, 26),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'visibility', 'private', -1, -26),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'mime_type', 'text/plain', -1, -26),
	('88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'classifier', '', -1, -26);

INSERT INTO public.users VALUES
	('25854fb4-8343-4b23-8329-3832f633d2e5', '804cf45f-31f0-4e6c-9744-cd3e81f03f55', 'carl', '025d8e04-af73-4b26-b9bc-169625e50a5e', true, 18, 1, '2026-11-17 00:34:07.403+00', '2026-11-17 00:34:07.403+00', DEFAULT),
	('d72e7981-9be5-4ca3-9dab-277c4e5a0594', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'bob', '5d4599ef-68fa-4a44-b288-f923bf476c67', true, 203, 1, '2026-11-17 00:34:07.356+00', '2026-11-17 00:34:07.356+00', DEFAULT),
	('5834080a-9c2f-4f6e-8b54-5db6b9071603', '88a33ae1-49c7-49ad-9d1e-30a217c1a8a7', 'anna', '5d4599ef-68fa-4a44-b288-f923bf476c67', true, 300265, 5, '2026-11-17 00:34:07.343+00', '2026-11-17 00:34:07.343+00', DEFAULT);

ALTER TABLE ONLY pgboss.archive
    ADD CONSTRAINT archive_pkey PRIMARY KEY (name, id);

ALTER TABLE ONLY pgboss.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (name, id);

ALTER TABLE ONLY pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849
    ADD CONSTRAINT j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849_pkey PRIMARY KEY (name, id);

ALTER TABLE ONLY pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53
    ADD CONSTRAINT j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53_pkey PRIMARY KEY (name, id);

ALTER TABLE ONLY pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4
    ADD CONSTRAINT j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4_pkey PRIMARY KEY (name, id);

ALTER TABLE ONLY pgboss.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pgboss.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pgboss.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (event, name);

ALTER TABLE ONLY pgboss.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_email_unique UNIQUE (email_key);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_project_id_key UNIQUE (project_id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_logs
    ADD CONSTRAINT audit_logs_pkey PRIMARY KEY (created_at, id);

ALTER TABLE ONLY public.compression_jobs
    ADD CONSTRAINT compression_jobs_file_id_key UNIQUE (file_id);

ALTER TABLE ONLY public.compression_jobs
    ADD CONSTRAINT compression_jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.daily_stats
    ADD CONSTRAINT daily_stats_pkey PRIMARY KEY (project_id, subject_id, day);

ALTER TABLE ONLY public.doomed_objects
    ADD CONSTRAINT doomed_objects_pkey PRIMARY KEY (storage_key, shelf);

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.folded_batches
    ADD CONSTRAINT folded_batches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_project_id_id_key UNIQUE (project_id, id);

ALTER TABLE ONLY public.login_challenges
    ADD CONSTRAINT login_challenges_pkey PRIMARY KEY (jti);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.password_resets
    ADD CONSTRAINT password_resets_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_project_id_id_key UNIQUE (project_id, id);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (account_id, code_hash);

ALTER TABLE ONLY public.revoked_tokens
    ADD CONSTRAINT revoked_tokens_pkey PRIMARY KEY (jti, subject_id);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (jti);

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_external_id_unique UNIQUE (project_id, external_id);

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_project_id_user_id_id_key UNIQUE (project_id, user_id, id);

ALTER TABLE ONLY public.stat_totals
    ADD CONSTRAINT stat_totals_pkey PRIMARY KEY (project_id, dimension, value);

ALTER TABLE ONLY public.two_factors
    ADD CONSTRAINT two_factors_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY public.used_totp_steps
    ADD CONSTRAINT used_totp_steps_pkey PRIMARY KEY (account_id, step);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_external_id_unique UNIQUE (project_id, external_id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_project_id_id_key UNIQUE (project_id, id);

CREATE INDEX archive_i1 ON pgboss.archive USING btree (archived_on);

CREATE UNIQUE INDEX j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849_i1 ON pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'created'::pgboss.job_state) AND (policy = 'short'::text));

CREATE UNIQUE INDEX j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849_i2 ON pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'active'::pgboss.job_state) AND (policy = 'singleton'::text));

CREATE UNIQUE INDEX j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849_i3 ON pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 USING btree (name, state, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::pgboss.job_state) AND (policy = 'stately'::text));

CREATE UNIQUE INDEX j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849_i4 ON pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::pgboss.job_state) AND (singleton_on IS NOT NULL));

CREATE INDEX j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849_i5 ON pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 USING btree (name, start_after) INCLUDE (priority, created_on, id) WHERE (state < 'active'::pgboss.job_state);

CREATE INDEX job_in_order ON ONLY pgboss.job USING btree (name, priority DESC, created_on, id) WHERE (state < 'active'::pgboss.job_state);

CREATE INDEX j1edebf284af87785b34daeec11ad89_name_priority_created_on_id_idx ON pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849 USING btree (name, priority DESC, created_on, id) WHERE (state < 'active'::pgboss.job_state);

CREATE UNIQUE INDEX j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53_i1 ON pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'created'::pgboss.job_state) AND (policy = 'short'::text));

CREATE UNIQUE INDEX j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53_i2 ON pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'active'::pgboss.job_state) AND (policy = 'singleton'::text));

CREATE UNIQUE INDEX j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53_i3 ON pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 USING btree (name, state, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::pgboss.job_state) AND (policy = 'stately'::text));

CREATE UNIQUE INDEX j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53_i4 ON pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::pgboss.job_state) AND (singleton_on IS NOT NULL));

CREATE INDEX j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53_i5 ON pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 USING btree (name, start_after) INCLUDE (priority, created_on, id) WHERE (state < 'active'::pgboss.job_state);

CREATE INDEX j2402e807ea55861886387f169eea35_name_priority_created_on_id_idx ON pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53 USING btree (name, priority DESC, created_on, id) WHERE (state < 'active'::pgboss.job_state);

CREATE INDEX j56debf09507e3b5bff7b08f0230c0b_name_priority_created_on_id_idx ON pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 USING btree (name, priority DESC, created_on, id) WHERE (state < 'active'::pgboss.job_state);

CREATE UNIQUE INDEX j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4_i1 ON pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'created'::pgboss.job_state) AND (policy = 'short'::text));

CREATE UNIQUE INDEX j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4_i2 ON pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'active'::pgboss.job_state) AND (policy = 'singleton'::text));

CREATE UNIQUE INDEX j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4_i3 ON pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 USING btree (name, state, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::pgboss.job_state) AND (policy = 'stately'::text));

CREATE UNIQUE INDEX j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4_i4 ON pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::pgboss.job_state) AND (singleton_on IS NOT NULL));

CREATE INDEX j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4_i5 ON pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4 USING btree (name, start_after) INCLUDE (priority, created_on, id) WHERE (state < 'active'::pgboss.job_state);

CREATE INDEX api_keys_newest ON public.api_keys USING btree (project_id, created_at DESC, id DESC) WHERE (integration_id IS NULL);

CREATE UNIQUE INDEX api_keys_one_of_integration ON public.api_keys USING btree (integration_id) WHERE (integration_id IS NOT NULL);

CREATE INDEX audit_logs_of_action ON public.audit_logs USING btree (project_id, action, created_at, id);

CREATE INDEX audit_logs_of_project ON public.audit_logs USING btree (project_id, created_at, id);

CREATE INDEX audit_logs_of_user ON public.audit_logs USING btree (user_id, created_at, id) WHERE (user_id IS NOT NULL);

CREATE INDEX compression_jobs_of_project ON public.compression_jobs USING btree (project_id);

CREATE INDEX compression_jobs_of_status ON public.compression_jobs USING btree (status) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text, 'failed'::text]));

CREATE INDEX compression_jobs_waiting ON public.compression_jobs USING btree (project_id) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));

CREATE INDEX daily_stats_of_projects ON public.daily_stats USING btree (day) WHERE (subject_id = project_id);

CREATE INDEX daily_stats_to_purge ON public.daily_stats USING btree (day) WHERE (subject_id <> project_id);

CREATE INDEX doomed_objects_due ON public.doomed_objects USING btree (due_at);

CREATE INDEX files_newest ON public.files USING btree (project_id, user_id, created_at, id);

CREATE INDEX files_of_classifier ON public.files USING btree (user_id, classifier, created_at, id) WHERE (classifier IS NOT NULL);

CREATE INDEX files_of_folder ON public.files USING btree (user_id, translate(folder, '/'::text, ''::text), created_at, id);

CREATE INDEX files_of_level ON public.files USING btree (user_id, created_at, id) WHERE (space_id IS NULL);

CREATE INDEX files_of_mime_type ON public.files USING btree (user_id, mime_type, created_at, id);

CREATE INDEX files_of_space ON public.files USING btree (space_id, created_at, id) WHERE (space_id IS NOT NULL);

CREATE INDEX files_of_space_folder ON public.files USING btree (space_id, translate(folder, '/'::text, ''::text), created_at, id) WHERE (space_id IS NOT NULL);

CREATE INDEX files_of_tags ON public.files USING gin (tags) WHERE (tags <> '{}'::text[]);

CREATE INDEX files_public ON public.files USING btree (user_id, created_at, id) WHERE (visibility = 'public'::text);

CREATE INDEX files_to_hide ON public.files USING btree (id) WHERE ((visibility = 'private'::text) AND (shelf = 'public'::text));

CREATE INDEX files_to_move ON public.files USING btree (id) WHERE (visibility <> shelf);

CREATE INDEX folded_batches_age ON public.folded_batches USING btree (folded_at);

CREATE INDEX integrations_newest ON public.integrations USING btree (project_id, created_at DESC, id DESC);

CREATE INDEX login_challenges_expiry ON public.login_challenges USING btree (expires_at);

CREATE INDEX login_challenges_of_account ON public.login_challenges USING btree (account_id);

CREATE INDEX password_resets_expiry ON public.password_resets USING btree (expires_at);

CREATE INDEX password_resets_of_account ON public.password_resets USING btree (account_id);

CREATE INDEX plans_newest ON public.plans USING btree (project_id, created_at DESC, id DESC);

CREATE UNIQUE INDEX plans_one_default ON public.plans USING btree (project_id) WHERE is_default;

CREATE INDEX projects_newest ON public.projects USING btree (created_at DESC, id DESC);

CREATE INDEX revoked_tokens_expiry ON public.revoked_tokens USING btree (expires_at);

CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_of_account ON public.sessions USING btree (account_id);

CREATE INDEX spaces_newest ON public.spaces USING btree (project_id, user_id, created_at DESC, id DESC);

CREATE UNIQUE INDEX spaces_of_session ON public.spaces USING btree (session_jti) WHERE (session_jti IS NOT NULL);

CREATE INDEX stat_deltas_of_project ON public.stat_deltas USING btree (project_id, dimension);

CREATE INDEX stat_totals_empty ON public.stat_totals USING btree (project_id) WHERE ((count = 0) AND (bytes = 0));

CREATE INDEX stat_totals_largest ON public.stat_totals USING btree (project_id, dimension, count DESC, value);

CREATE INDEX stat_totals_of_installation ON public.stat_totals USING btree (dimension) WHERE (dimension = ANY (ARRAY['users'::text, 'visibility'::text, 'jobs'::text]));

CREATE INDEX two_factors_of_key ON public.two_factors USING btree (key_id);

CREATE INDEX used_totp_steps_age ON public.used_totp_steps USING btree (step);

CREATE INDEX users_newest ON public.users USING btree (project_id, created_at DESC, id DESC);

CREATE INDEX users_of_plan ON public.users USING btree (project_id, plan_id, usage_bucket);

ALTER INDEX pgboss.job_pkey ATTACH PARTITION pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849_pkey;

ALTER INDEX pgboss.job_in_order ATTACH PARTITION pgboss.j1edebf284af87785b34daeec11ad89_name_priority_created_on_id_idx;

ALTER INDEX pgboss.job_pkey ATTACH PARTITION pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53_pkey;

ALTER INDEX pgboss.job_in_order ATTACH PARTITION pgboss.j2402e807ea55861886387f169eea35_name_priority_created_on_id_idx;

ALTER INDEX pgboss.job_in_order ATTACH PARTITION pgboss.j56debf09507e3b5bff7b08f0230c0b_name_priority_created_on_id_idx;

ALTER INDEX pgboss.job_pkey ATTACH PARTITION pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4_pkey;

CREATE TRIGGER audit_logs_immutable BEFORE DELETE OR UPDATE ON public.audit_logs FOR EACH ROW EXECUTE FUNCTION public.refuse_audit_change();

CREATE TRIGGER audit_logs_not_truncated BEFORE TRUNCATE ON public.audit_logs FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_audit_change();

CREATE TRIGGER files_added AFTER INSERT ON public.files FOR EACH ROW EXECUTE FUNCTION public.note_file();

CREATE TRIGGER files_changed AFTER UPDATE ON public.files FOR EACH ROW WHEN ((((((old.project_id IS DISTINCT FROM new.project_id) OR (old.visibility IS DISTINCT FROM new.visibility)) OR (old.mime_type IS DISTINCT FROM new.mime_type)) OR (old.classifier IS DISTINCT FROM new.classifier)) OR (old.size IS DISTINCT FROM new.size))) EXECUTE FUNCTION public.note_file();

CREATE TRIGGER files_gone AFTER DELETE ON public.files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.note_files_gone();

CREATE TRIGGER jobs_added_or_gone AFTER INSERT OR DELETE ON public.compression_jobs FOR EACH ROW EXECUTE FUNCTION public.note_job();

CREATE TRIGGER jobs_changed AFTER UPDATE OF status ON public.compression_jobs FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION public.note_job();

CREATE TRIGGER users_added AFTER INSERT ON public.users REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.note_users();

CREATE TRIGGER users_gone AFTER DELETE ON public.users REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.note_users();

ALTER TABLE ONLY pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY pgboss.j1edebf284af87785b34daeec11ad891f427631b727ebe08a5a78b849
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY pgboss.j2402e807ea55861886387f169eea355780192746e4fa0fd5d0f57a53
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY pgboss.j56debf09507e3b5bff7b08f0230c0bcd1f98955b7568648a3191c9a4
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY pgboss.queue
    ADD CONSTRAINT queue_dead_letter_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name);

ALTER TABLE ONLY pgboss.schedule
    ADD CONSTRAINT schedule_name_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE CASCADE;

ALTER TABLE ONLY pgboss.subscription
    ADD CONSTRAINT subscription_name_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_project_id_integration_id_fkey FOREIGN KEY (project_id, integration_id) REFERENCES public.integrations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.compression_jobs
    ADD CONSTRAINT compression_jobs_file_id_fkey FOREIGN KEY (file_id) REFERENCES public.files(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.compression_jobs
    ADD CONSTRAINT compression_jobs_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.daily_stats
    ADD CONSTRAINT daily_stats_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES public.users(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_project_id_user_id_space_id_fkey FOREIGN KEY (project_id, user_id, space_id) REFERENCES public.spaces(project_id, user_id, id);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.login_challenges
    ADD CONSTRAINT login_challenges_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.password_resets
    ADD CONSTRAINT password_resets_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.two_factors(account_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES public.users(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.two_factors
    ADD CONSTRAINT two_factors_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.used_totp_steps
    ADD CONSTRAINT used_totp_steps_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.two_factors(account_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_plan FOREIGN KEY (project_id, plan_id) REFERENCES public.plans(project_id, id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

