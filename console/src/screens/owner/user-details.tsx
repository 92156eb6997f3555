// What is known about a user.
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Show } from '../../ui/load.tsx';
import { ActiveBadge, Foreign, Quota, Time } from '../../ui/parts.tsx';
import type { UserPartProps } from './user-part.ts';

export function UserDetails({ user }: UserPartProps) {
  const texts = t.owner.user;
  const stats = useLoad((signal) => client.user(user).stats({ signal }), [user.id]);
  return (
    <div class="columns">
      <section class="card">
        <dl class="facts">
          <dt>{texts.externalId}</dt>
          <dd>
            <Foreign>{user.external_id}</Foreign>
          </dd>
          <dt>{texts.id}</dt>
          <dd>
            <code class="mono">{user.id}</code>
          </dd>
          <dt>{texts.state}</dt>
          <dd>
            <ActiveBadge active={user.active} />
          </dd>
          <dt>{texts.plan}</dt>
          <dd>{user.plan ? <Foreign>{user.plan.name}</Foreign> : t.owner.users.planNone}</dd>
          <dt>{texts.created}</dt>
          <dd>
            <Time at={user.created_at} />
          </dd>
          <dt>{texts.changed}</dt>
          <dd>
            <Time at={user.updated_at} />
          </dd>
        </dl>
      </section>
      <section class="card stack">
        <dl class="facts">
          <dt>{texts.storage}</dt>
          <dd>
            <Quota used={user.storageUsed} limit={user.storageLimit} percent={user.usagePercent} />
          </dd>
          <dt>{texts.reserved}</dt>
          <dd>{formatBytes(user.storageReserved)}</dd>
          <dt>{texts.available}</dt>
          <dd>{user.storageAvailable === null ? texts.unlimited : formatBytes(user.storageAvailable)}</dd>
        </dl>
        <Show of={stats}>
          {({ files, last_30_days: { uploads, downloads, bytes_in } }) => (
            <dl class="facts">
              <dt>{texts.fileCount}</dt>
              <dd>{formatNumber(files)}</dd>
              <dt>{texts.traffic}</dt>
              <dd>
                {texts.trafficOf(formatNumber(uploads), formatNumber(downloads), formatBytes(bytes_in))}
              </dd>
            </dl>
          )}
        </Show>
      </section>
    </div>
  );
}
