// The project at a glance: figures, traffic, users who need room, and what happened last.
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Show } from '../../ui/load.tsx';
import { Figure, Foreign, Quota, Time } from '../../ui/parts.tsx';
import { FirstSteps } from './first-steps.tsx';

const rowsMax = 6;

export function Overview() {
  const texts = t.owner.overview;
  const overview = useLoad((signal) => client.project.stats.overview({ signal }), []);
  return (
    <div class="stack wide">
      <ScreenTitle>{texts.title}</ScreenTitle>
      <Show of={overview}>
        {({ today, storage }) => (
          <>
            {storage.files === 0 && <FirstSteps users={storage.users} />}
            <div class="cards">
              <Figure
                label={texts.users}
                value={formatNumber(storage.users)}
                {...(storage.over_quota_users > 0 && {
                  note: texts.overQuota(formatNumber(storage.over_quota_users)),
                })}
              />
              <Figure
                label={texts.files}
                value={formatNumber(storage.files)}
                note={texts.public(formatNumber(storage.public.files))}
              />
              <Figure label={texts.storage} value={formatBytes(storage.bytes)} />
              <Figure
                label={texts.today}
                value={formatNumber(today.requests)}
                note={texts.errors(formatNumber(today.errors))}
              />
            </div>
            {storage.users > 0 && <Details />}
          </>
        )}
      </Show>
    </div>
  );
}

const Details = () => (
  <>
    <Traffic />
    <div class="columns">
      <NearQuota />
      <Types />
      <Recent />
    </div>
  </>
);

function Traffic() {
  const texts = t.owner.overview;
  const traffic = useLoad(async (signal) => (await client.project.stats.requests({ signal })).days, []);
  return (
    <Show of={traffic}>
      {(days) => (
        <div class="columns">
          <section class="card stack">
            <h2>{texts.traffic}</h2>
            <BarChart
              title={texts.traffic}
              days={days.map(({ date, requests, errors }) => ({ date, value: requests, minor: errors }))}
              format={formatNumber}
              valueLabel={texts.requests}
              minorLabel={texts.failed}
            />
          </section>
          <section class="card stack">
            <h2>{texts.uploads}</h2>
            <BarChart
              title={texts.uploads}
              days={days.map(({ date, bytes_in }) => ({ date, value: bytes_in }))}
              format={formatBytes}
              valueLabel={texts.bytesIn}
            />
          </section>
        </div>
      )}
    </Show>
  );
}

function NearQuota() {
  const texts = t.owner.overview;
  const users = useLoad(
    async (signal) => (await client.users.list({ usage_min: 80, limit: rowsMax }, { signal }).page()).users,
    [],
  );
  return (
    <section class="card stack">
      <header>
        <h2>{texts.nearQuota}</h2>
        <Link to="/users?near=1">{texts.allUsers}</Link>
      </header>
      <Show of={users}>
        {(found) =>
          found.length === 0 ? (
            <p class="soft">{texts.nearQuotaEmpty}</p>
          ) : (
            <ul class="list-plain">
              {found.map(({ id, external_id, storageUsed, storageLimit, usagePercent }) => (
                <li key={id}>
                  <Link to={`/users/${id}/files`}>
                    <Foreign>{external_id}</Foreign>
                  </Link>
                  <Quota used={storageUsed} limit={storageLimit} percent={usagePercent} />
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </section>
  );
}

function Types() {
  const texts = t.owner.overview;
  const stats = useLoad((signal) => client.project.stats.files({ signal }), []);
  return (
    <section class="card stack">
      <h2>{texts.types}</h2>
      <Show of={stats}>
        {({ by_mime }) => {
          const shown = by_mime.slice(0, rowsMax);
          const most = Math.max(1, ...shown.map(({ bytes }) => bytes));
          if (shown.length === 0) return <p class="soft">{texts.typesEmpty}</p>;
          return (
            <ul class="shares">
              {shown.map(({ mime_type, files, bytes }) => (
                <li key={mime_type}>
                  <Foreign>{mime_type}</Foreign>
                  <span>
                    {formatNumber(files)} · {formatBytes(bytes)}
                  </span>
                  <div class="track" aria-hidden="true">
                    <div class="fill" style={{ inlineSize: `${(bytes / most) * 100}%` }} />
                  </div>
                </li>
              ))}
            </ul>
          );
        }}
      </Show>
    </section>
  );
}

function Recent() {
  const texts = t.owner.overview;
  const logs = useLoad(
    async (signal) => (await client.project.audit.list({ limit: rowsMax }, { signal }).page()).logs,
    [],
  );
  return (
    <section class="card stack">
      <header>
        <h2>{texts.recent}</h2>
        <Link to="/audit">{texts.allAudit}</Link>
      </header>
      <Show of={logs}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">{texts.recentEmpty}</p>
          ) : (
            <ul class="list-plain">
              {rows.map(({ id, action, created_at }) => (
                <li key={id}>
                  <code class="mono">{action}</code>
                  <Time at={created_at} />
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </section>
  );
}
