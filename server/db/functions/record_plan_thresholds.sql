-- Records `quota.threshold` for every user of a plan whose usage crosses a threshold because the plan's limit was lowered.
create or replace function record_plan_thresholds(project uuid, of_plan uuid, limit_before bigint, limit_after bigint)
returns void language plpgsql as $$
begin
  if limit_after is null or limit_before <= limit_after or not project_listens(project) then return; end if;
  perform record_thresholds(project, u.id, u.used_bytes, limit_before, u.used_bytes, limit_after)
    from users u where u.project_id = project and u.plan_id = of_plan
      and u.usage_bucket >= usage_bucket(limit_after / 5 * 4) - 1 and is_over(80, u.used_bytes, limit_after);
end $$;
