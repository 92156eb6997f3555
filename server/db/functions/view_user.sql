-- A user as the API shows it. Must match `viewUser`. In plpgsql, which keeps the plan: an SQL function would plan at every call.
create or replace function view_user(project uuid, of_user uuid) returns json language plpgsql stable as $$
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
end $$;
