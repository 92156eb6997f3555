// What an owner of a new project does first.
import type { ComponentChildren } from 'preact';
import { Link } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Icon } from '../../ui/icons.tsx';

export function FirstSteps({ users }: { users: number }) {
  const texts = t.owner.overview.start;
  return (
    <section class="card stack">
      <h2>{texts.title}</h2>
      <ol class="steps">
        <Step number={1} to="/plans" hint={texts.planHint}>
          {texts.plan}
        </Step>
        <Step number={2} to="/users?create=1" hint={texts.userHint} isDone={users > 0}>
          {texts.user}
        </Step>
        <Step number={3} to="/users" hint={texts.uploadHint}>
          {texts.upload}
        </Step>
        <Step number={4} to="/integrations" hint={texts.keyHint}>
          {texts.key}
        </Step>
      </ol>
    </section>
  );
}

interface StepProps {
  readonly number: number;
  readonly to: string;
  readonly hint: string;
  readonly isDone?: boolean;
  readonly children: ComponentChildren;
}

const Step = ({ number, to, hint, isDone = false, children }: StepProps) => (
  <li class={isDone ? 'is-done' : ''}>
    <span class="tick">{isDone ? <Icon name="check" /> : number}</span>
    <span>
      <Link to={to}>{children}</Link> {isDone && <span class="unseen">{t.owner.overview.start.done}</span>}
    </span>
    <p>{hint}</p>
  </li>
);
