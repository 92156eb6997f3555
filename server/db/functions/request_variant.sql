-- Asks for the image of a file by a recipe. 'queued': the caller must send the job. 'waiting': somebody else has, or the image is there.
-- 'crowded': the project has too many in the making. 'changed': the variant has another recipe by now. 'gone': there is no such file.
create or replace function request_variant(
  project uuid, file uuid, recipe uuid, content bytea, present_store text, unfinished_max integer
) returns text language plpgsql as $$
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
end $$;
