-- Records `quota.threshold` for each threshold that the usage of a user has just crossed. Whoever changes the usage or the limit
-- holds the lock on the user's row, so each crossing is seen once. `used_before` and `limit_before` are from before the change.
create or replace function record_thresholds(
  project uuid, of_user uuid, used_before bigint, limit_before bigint, used_after bigint, limit_after bigint
) returns void language plpgsql as $$
declare
  threshold integer;
begin
  foreach threshold in array array[80, 100] loop
    if is_over(threshold, used_after, limit_after) and not is_over(threshold, used_before, limit_before) then
      perform record_event(project, 'quota.threshold', of_user,
        left(view_user(project, of_user)::text, -1) || ',"threshold":' || threshold || '}');
    end if;
  end loop;
end $$;
