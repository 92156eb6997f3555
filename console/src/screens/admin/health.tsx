// System health with each check.
import { PakhusError } from '@pakhus/client';
import { useLoad } from '../../browser/load.ts';
import { accountClient } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Show } from '../../ui/load.tsx';
import { Badge } from '../../ui/parts.tsx';

type HealthReport = Awaited<ReturnType<typeof accountClient.health>>;
type CheckName = keyof HealthReport['checks'];

/** Asked once: a repeated 503 says no more than the first. */
const readHealth = (signal: AbortSignal): Promise<HealthReport | null> =>
  accountClient.health({ signal }).catch((error) => {
    if (error instanceof PakhusError && error.status === 503) return null;
    throw error;
  });

export function Health() {
  const health = useLoad(async (signal) => ({ report: await readHealth(signal) }), []);
  const texts = t.admin.overview;
  return (
    <section class="card stack">
      <Show of={health}>
        {({ report }) => (
          <>
            <div class="row spread">
              <h2>{texts.health}</h2>
              <Verdict report={report} />
            </div>
            {report ? (
              <ul class="health-checks">
                {(Object.keys(report.checks) as CheckName[]).map((name) => (
                  <HealthCheck key={name} name={name} state={report.checks[name]} />
                ))}
              </ul>
            ) : (
              <p>{texts.databaseDown}</p>
            )}
            {report && <p class="soft">{texts.version(report.version)}</p>}
          </>
        )}
      </Show>
    </section>
  );
}

function Verdict({ report }: { report: HealthReport | null }) {
  const texts = t.admin.overview;
  if (report?.status !== 'ok') return <Badge tone="danger">{texts.healthBad}</Badge>;
  const isPartly = Object.values(report.checks).includes('unavailable');
  return <Badge tone={isPartly ? 'warn' : 'good'}>{isPartly ? texts.healthPartly : texts.healthOk}</Badge>;
}

const tones = { ok: 'good', unavailable: 'danger', 'not configured': 'plain' } as const;

const HealthCheck = ({ name, state }: { name: CheckName; state: HealthReport['checks'][CheckName] }) => (
  <li>
    <span>{t.admin.overview.checks[name]}</span>
    <Badge tone={tones[state]}>{t.admin.overview.states[state]}</Badge>
    {state === 'not configured' && <span class="soft">{t.admin.overview.redisHint}</span>}
  </li>
);
