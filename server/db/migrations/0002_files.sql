-- What is stored: files, and the objects that no file owns.
--
-- Whoever locks several rows locks them in this order: project, user, space, file.

create table files (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  space_id uuid,
  name text not null,
  size bigint not null check (size >= 0),
  mime_type text collate "C" not null,
  storage_key text not null,
  folder text collate "C" not null default '',
  tags text[] not null default '{}',
  classifier text,
  metadata jsonb not null default '{}',
  visibility text not null default 'private' check (visibility in ('private', 'public')),
  -- Where the object is: it moves to another shelf after its visibility has changed.
  shelf text not null default 'private' check (shelf in ('private', 'public')),
  sha256 bytea not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  foreign key (project_id, user_id) references users (project_id, id) on delete cascade,
  foreign key (project_id, user_id, space_id) references spaces (project_id, user_id, id)
);
create index files_newest on files (project_id, user_id, created_at desc, id desc);
create index files_of_level on files (user_id, created_at desc, id desc) where space_id is null;
create index files_of_space on files (space_id, created_at desc, id desc) where space_id is not null;
-- With the slash as the lowest character, a folder and all below it stand together, before its next sibling.
create index files_of_folder on files (user_id, translate(folder, '/', E'\x01'), created_at desc, id desc);
create index files_of_space_folder on files (space_id, translate(folder, '/', E'\x01'), created_at desc, id desc)
  where space_id is not null;
create index files_of_mime_type on files (user_id, mime_type, created_at desc, id desc);
create index files_of_classifier on files (user_id, classifier, created_at desc, id desc) where classifier is not null;
create index files_public on files (user_id, created_at desc, id desc) where visibility = 'public';
create index files_of_tags on files using gin (tags) where tags <> '{}';
create index files_to_move on files (id) where visibility <> shelf;

-- Objects that are to go: of uploads that have not committed (yet), of files that were deleted, and copies on
-- the shelf that a file has left or has not reached. A commit takes its object off this list; the reaper
-- claims what is due and deletes it, unless a file owns it after all.
create table doomed_objects (
  shelf text not null check (shelf in ('private', 'public')),
  storage_key text not null,
  file_id uuid not null,
  due_at timestamptz(3) not null,
  -- Set by the reaper: from here on the object may be gone, and no commit may count on it.
  claimed_until timestamptz(3),
  attempts integer not null default 0,
  primary key (storage_key, shelf)
);
create index doomed_objects_due on doomed_objects (due_at);

-- Charges the user and the space, inserts the row, takes the object off the doomed and records the audit:
-- all of it or nothing. The outcome is 'stored', or why it was not.
create function store_file(
  file files, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text,
  out outcome text, out stored_at timestamptz(3)
) language plpgsql as $$
declare
  owner record;
  space_active boolean;
  space_wanted bigint;
  space_limit bigint;
begin
  -- Before the user: the file's row will refer to the project, whose deletion goes through its users.
  perform from projects p where p.id = file.project_id for key share;
  select u.active, u.used_bytes + file.size as wanted, p.storage_limit into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = file.project_id and u.id = file.user_id
    for no key update of u;
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
  delete from doomed_objects d
    where d.storage_key = file.storage_key and d.shelf = file.shelf and d.claimed_until is null;
  if not found then outcome := 'object lost'; return; end if;

  update users set used_bytes = owner.wanted, file_count = file_count + 1
    where id = file.user_id and project_id = file.project_id;
  if file.space_id is not null then
    update spaces set used_bytes = space_wanted, file_count = file_count + 1
      where id = file.space_id and project_id = file.project_id;
  end if;
  insert into files select file.*;
  perform record_audit(file.project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent,
    'file.upload', 'file', file.id::text, file.user_id,
    jsonb_build_object('new', jsonb_build_object('name', file.name, 'size', file.size, 'mimeType', file.mime_type,
      'folder', file.folder, 'visibility', file.visibility, 'space_id', file.space_id)));
  outcome := 'stored';
  stored_at := file.created_at;
end $$;

-- Gives back what a file was charged, deletes the row, dooms its object and records the audit. An object that
-- is doomed already, because a writer is still busy with it, keeps its later date.
create function delete_file(
  project_id uuid, user_id uuid, space_id uuid, file_id uuid,
  actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text
) returns setof files language plpgsql as $$
declare
  gone files;
begin
  perform from projects p where p.id = $1 for key share;
  perform from users u where u.project_id = $1 and u.id = $2 for no key update;
  -- The space before the file: the order of locks.
  perform from spaces s where s.project_id = $1
    and s.id = (select f.space_id from files f where f.id = $4 and f.project_id = $1) for no key update;
  delete from files f
    where f.project_id = $1 and f.user_id = $2 and f.id = $4 and ($3 is null or f.space_id = $3)
    returning * into gone;
  if gone.id is null then return; end if;
  update users u set used_bytes = used_bytes - gone.size, file_count = file_count - 1
    where u.id = gone.user_id and u.project_id = $1;
  update spaces s set used_bytes = used_bytes - gone.size, file_count = file_count - 1
    where s.id = gone.space_id and s.project_id = $1;
  insert into doomed_objects (shelf, storage_key, file_id, due_at)
    values (gone.shelf, gone.storage_key, gone.id, now()) on conflict do nothing;
  perform record_audit($1, $5, $6, $7, $8, $9, 'file.delete', 'file', gone.id::text, gone.user_id,
    jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
  return next gone;
end $$;
