-- Image variants: what owners have defined, and the images made so far.

create table variants (
  project_id uuid not null references projects on delete cascade,
  name text collate "C" not null,
  -- New with every change, so that no image of an earlier definition, or of a deleted one of the same name, is taken for a present one.
  recipe_id uuid not null,
  version integer not null default 1,
  format text not null check (format in ('webp', 'jpeg', 'png', 'avif')),
  quality integer not null,
  width integer,
  height integer,
  fit text not null check (fit in ('inside', 'cover')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, name),
  unique (project_id, recipe_id)
);

-- Recipes that no variant has any more. A periodic task deletes their images in batches, then the row.
create table retired_recipes (
  project_id uuid not null references projects on delete cascade,
  recipe_id uuid not null,
  primary key (project_id, recipe_id)
);

-- One row for a file and a recipe: an image that is wanted, is made, was made or cannot be made. A deleted file takes its rows along,
-- and a row takes its object along (functions/drop_variant_object.sql).
create table variant_images (
  project_id uuid not null,
  file_id uuid not null,
  recipe_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'making', 'ready', 'failed')),
  -- Of the bytes that it is made from. Null until somebody has read them.
  content_sha256 bytea,
  -- Only the attempt with this number may change the row.
  claim integer not null default 0,
  -- Attempts at this content that count.
  attempts integer not null default 0,
  queued_at timestamptz(3) not null default now(),
  -- The object in the store, and what it is. Null unless it is ready.
  object_id uuid,
  bytes bigint,
  width integer,
  height integer,
  sha256 bytea,
  -- The kind of store that has the object: one that the service no longer uses has nothing to deliver.
  store text,
  made_at timestamptz(3),
  last_used_at timestamptz(3),
  -- Why it failed, and when it may be tried again: never if that is null.
  failure text check (failure in ('refused', 'fault', 'outage')),
  error text,
  retry_at timestamptz(3),
  primary key (project_id, file_id, recipe_id),
  foreign key (project_id, file_id) references files (project_id, id) on delete cascade,
  check ((state = 'ready') = (object_id is not null and bytes is not null)),
  check ((state = 'failed') = (failure is not null))
);
create index variant_images_of_recipe on variant_images (project_id, recipe_id);
create index variant_images_unfinished on variant_images (project_id) where state in ('pending', 'making');
create index variant_images_by_use on variant_images (project_id, last_used_at) where state = 'ready';

-- Objects that a file owns besides the one with its own id.
create index objects_derived on objects (project_id, id) where file_id <> id;

-- What all projects together have cached, for operators.
create index stat_totals_of_variants on stat_totals (project_id) where dimension = 'variants';
