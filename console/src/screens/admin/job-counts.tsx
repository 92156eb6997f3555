// Image jobs by state.
import type { AnswerOf } from '@pakhus/client';
import { t } from '../../texts/texts.ts';
import { formatNumber } from '../../ui/format.ts';
import { Figure } from '../../ui/parts.tsx';

type Jobs = AnswerOf<'GET /admin/stats/global'>['jobs'];

export function JobCounts({ jobs }: { jobs: Jobs }) {
  const { states, failedHint } = t.admin.jobs;
  return (
    <div class="cards small">
      <Figure label={states.pending} value={formatNumber(jobs.pending)} />
      <Figure label={states.processing} value={formatNumber(jobs.processing)} />
      <Figure label={states.done} value={formatNumber(jobs.done)} />
      <Figure label={states.failed} value={formatNumber(jobs.failed)} note={failedHint} />
    </div>
  );
}
