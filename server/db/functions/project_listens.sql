-- Whether events of the project are recorded.
create or replace function project_listens(project uuid) returns boolean language sql stable as $$
  select exists (select from projects p where p.id = project and p.listens_until > now())
$$;
