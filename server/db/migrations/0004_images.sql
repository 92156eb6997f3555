-- Image compression: one job for an image, whose row tells how far it is.

create table compression_jobs (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  file_id uuid not null unique references files on delete cascade,
  status text not null default 'pending' check (status in ('pending', 'processing', 'done', 'failed')),
  recipe jsonb not null,
  attempts integer not null default 0,
  original_size bigint not null,
  -- What the job is about to put in the original's place, noted before it does: a job that finds this object
  -- there knows that an earlier try has got so far, and does not compress it again.
  result_sha256 bytea,
  compressed_size bigint,
  format text,
  width integer,
  height integer,
  error text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index compression_jobs_of_project on compression_jobs (project_id);
create index compression_jobs_of_status on compression_jobs (status) where status in ('pending', 'processing', 'failed');
