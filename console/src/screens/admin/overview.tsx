// The installation at a glance: health, figures, traffic, storage, jobs.
import './admin.css';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link, navigate } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { Button } from '../../ui/button.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Show } from '../../ui/load.tsx';
import { Empty, Figure } from '../../ui/parts.tsx';
import { Health } from './health.tsx';
import { JobCounts } from './job-counts.tsx';
import { StorageByProject } from './storage-by-project.tsx';

type Stats = Awaited<ReturnType<typeof client.admin.stats.global>>;

export function Overview() {
  const stats = useLoad((signal) => client.admin.stats.global({ signal }), []);
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{t.admin.overview.title}</ScreenTitle>
      </div>
      {stats.data?.projects === 0 && <FirstProject />}
      <Health />
      <Show of={stats}>{(data) => data.projects > 0 && <Figures stats={data} />}</Show>
    </div>
  );
}

const FirstProject = () => (
  <Empty
    icon="projects"
    title={t.admin.overview.firstTitle}
    action={
      <Button kind="primary" icon="plus" onPress={() => navigate('/projects?create=1')}>
        {t.admin.overview.firstAction}
      </Button>
    }
  >
    {t.admin.overview.firstHint}
  </Empty>
);

function Figures({ stats }: { stats: Stats }) {
  const { last_30_days: month, storage, projects, jobs } = stats;
  const texts = t.admin.overview;
  return (
    <>
      <div class="cards small">
        <Figure label={texts.projects} value={formatNumber(projects)} />
        <Figure label={texts.users} value={formatNumber(storage.users)} />
        <Figure label={texts.files} value={formatNumber(storage.files)} />
        <Figure label={texts.storage} value={formatBytes(storage.bytes)} />
        <Figure label={texts.requests} value={formatNumber(month.requests)} note={texts.days30} />
        <Figure label={texts.errors} value={formatNumber(month.errors)} note={texts.days30} />
      </div>
      <Traffic stats={stats} />
      <StorageByProject />
      <section class="stack">
        <div class="row spread">
          <h2>{texts.jobs}</h2>
          <Link to="/jobs">{texts.jobsLink}</Link>
        </div>
        <JobCounts jobs={jobs} />
      </section>
    </>
  );
}

function Traffic({ stats }: { stats: Stats }) {
  const texts = t.admin.overview;
  return (
    <section class="card stack">
      <h2>{texts.traffic}</h2>
      <BarChart
        title={texts.traffic}
        days={stats.days.map(({ date, requests, errors }) => ({ date, value: requests, minor: errors }))}
        format={formatNumber}
        valueLabel={texts.requestsUnit}
        minorLabel={texts.errorsUnit}
      />
      <p class="soft">{texts.trafficHint}</p>
    </section>
  );
}
