-- An image job as the API shows it. Must match `viewJob`. PostgreSQL inlines it into the statements that use it.
create or replace function job_json(
  job_id uuid, file_id uuid, status text, original_size bigint, compressed_size bigint, format text, width integer,
  height integer, error text
) returns text language sql stable parallel safe as $$
  select json_strip_nulls(json_build_object('job_id', job_id, 'file_id', file_id, 'status', status,
    'original_size', case status when 'done' then original_size end,
    'compressed_size', case status when 'done' then compressed_size end,
    'compression_ratio', case status when 'done'
      then floor(original_size::float8 / greatest(compressed_size, 1) * 100 + 0.5) / 100 end,
    'format', case status when 'done' then format end, 'width', case status when 'done' then width end,
    'height', case status when 'done' then height end, 'error', case status when 'failed' then error end))::text
$$;
