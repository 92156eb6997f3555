-- Whether events of the project are recorded. In plpgsql, which keeps the plan: an SQL function would plan at every call.
create or replace function project_listens(project uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from projects p where p.id = project and p.listens_until > now());
end $$;
