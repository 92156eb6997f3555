// One project: its owner, limits, state and key.
import './admin.css';
import type { Project as ProjectData } from '@pakhus/client';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { type ScreenProps, ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Show } from '../../ui/load.tsx';
import { ActiveBadge, Foreign, Time } from '../../ui/parts.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { ProjectKeys, ProjectRemoval, ProjectState } from './project-actions.tsx';
import type { ProjectCardProps } from './project-card.ts';
import { RateTier } from './rate-tier.tsx';

export function Project({ params }: ScreenProps) {
  const id = params.id ?? '';
  const loaded = useLoad((signal) => client.admin.projects.get(id, { signal }), [id]);
  return (
    <div class="stack wide">
      <Link to="/projects" class="row">
        <Icon name="back" />
        {t.admin.project.back}
      </Link>
      <Show of={loaded}>
        {(project) => (
          <>
            <div class="page-head">
              <ScreenTitle page={project.name}>
                <Foreign>{project.name}</Foreign>
              </ScreenTitle>
              <ActiveBadge active={project.active} />
            </div>
            <Facts project={project} />
            <div class="columns">
              <Details project={project} onChanged={loaded.reload} />
              <RateTier project={project} onChanged={loaded.reload} />
              <ProjectState project={project} onChanged={loaded.reload} />
              <ProjectKeys project={project} onChanged={loaded.reload} />
            </div>
            <ProjectRemoval project={project} />
          </>
        )}
      </Show>
    </div>
  );
}

const Facts = ({ project }: { project: ProjectData }) => (
  <dl class="facts card">
    <dt>{t.admin.project.id}</dt>
    <dd class="mono">{project.id}</dd>
    <dt>{t.admin.project.created}</dt>
    <dd>
      <Time at={project.created_at} />
    </dd>
    <dt>{t.admin.project.changed}</dt>
    <dd>
      <Time at={project.updated_at} />
    </dd>
    <dt>{t.audit.title}</dt>
    <dd>
      <Link to={`/audit?project_id=${project.id}`}>{t.admin.project.audit}</Link>
    </dd>
  </dl>
);

function Details({ project, onChanged }: ProjectCardProps) {
  const texts = t.admin.project;
  return (
    <section class="card stack">
      <h2>{texts.details}</h2>
      <Form
        submit={texts.save}
        onSubmit={async ({ name = '', email = '' }) => {
          await client.admin.projects.update(project.id, { name, email });
          showToast(texts.saved);
          await onChanged();
        }}
      >
        {(wrong) => (
          <>
            <Field
              label={t.admin.projects.name}
              name="name"
              value={project.name}
              maxLength={255}
              autocomplete="off"
              required
              wrong={wrong('name')}
            />
            <Field
              label={t.admin.projects.email}
              hint={texts.emailHint}
              name="email"
              type="email"
              value={project.email}
              autocomplete="off"
              required
              wrong={wrong('email')}
            />
          </>
        )}
      </Form>
    </section>
  );
}
