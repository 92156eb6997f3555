// What the admin does to a project as a whole: suspend, rotate the key, delete.
import { useSignal } from '@preact/signals';
import { client } from '../../frame/api.ts';
import { navigate } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { describeError } from '../../ui/error-note.tsx';
import { isolate } from '../../ui/format.ts';
import { ActiveBadge } from '../../ui/parts.tsx';
import { SecretDialog } from '../../ui/secret.tsx';
import { showToast } from '../../ui/toasts.tsx';
import type { ProjectCardProps } from './project-card.ts';

export function ProjectState({ project, onChanged }: ProjectCardProps) {
  const isAsking = useSignal(false);
  const texts = t.admin.project;
  const setActive = async (active: boolean) => {
    await client.admin.projects.setActive(project.id, active);
    showToast(active ? texts.resumed : texts.suspended);
    await onChanged();
  };
  const press = async () => {
    if (project.active) isAsking.value = true;
    else await setActive(true).catch((error) => showToast(describeError(error)));
  };
  return (
    <section class="card stack">
      <div class="row spread">
        <h2>{texts.state}</h2>
        <ActiveBadge active={project.active} />
      </div>
      <p class="soft">{project.active ? texts.stateActive : texts.stateSuspended}</p>
      <div>
        <Button onPress={press}>{project.active ? texts.suspend : texts.resume}</Button>
      </div>
      {isAsking.value && (
        <Confirm
          title={texts.suspendTitle(isolate(project.name))}
          action={texts.suspend}
          onConfirm={() => setActive(false)}
          onClose={() => {
            isAsking.value = false;
          }}
        >
          <p>{texts.suspendHint}</p>
        </Confirm>
      )}
    </section>
  );
}

export function ProjectKeys({ project, onChanged }: ProjectCardProps) {
  const isAsking = useSignal(false);
  const key = useSignal<string | null>(null);
  const texts = t.admin.project;
  return (
    <section class="card stack">
      <h2>{texts.keys}</h2>
      <p class="soft">{texts.keysHint}</p>
      <div>
        <Button
          icon="refresh"
          onPress={() => {
            isAsking.value = true;
          }}
        >
          {texts.rotate}
        </Button>
      </div>
      {isAsking.value && (
        <Confirm
          title={texts.rotateTitle}
          action={texts.rotate}
          onConfirm={async () => {
            key.value = (await client.admin.projects.rotateKey(project.id)).api_key;
          }}
          onClose={() => {
            isAsking.value = false;
          }}
        >
          <p>{texts.rotateHint}</p>
        </Confirm>
      )}
      {key.value !== null && (
        <SecretDialog
          title={texts.rotated}
          label={t.admin.projects.key}
          value={key.value}
          onClose={() => {
            key.value = null;
            void onChanged();
          }}
        >
          <p class="soft">{t.admin.projects.keyHint}</p>
        </SecretDialog>
      )}
    </section>
  );
}

export function ProjectRemoval({ project }: Pick<ProjectCardProps, 'project'>) {
  const isAsking = useSignal(false);
  const texts = t.admin.project;
  return (
    <section class="card stack">
      <h2>{texts.remove}</h2>
      <p class="soft">{texts.removeHint}</p>
      <div>
        <Button
          kind="danger"
          icon="trash"
          onPress={() => {
            isAsking.value = true;
          }}
        >
          {texts.removeAction}
        </Button>
      </div>
      {isAsking.value && (
        <Confirm
          title={texts.removeTitle(isolate(project.name))}
          action={texts.removeAction}
          typed={project.name}
          onConfirm={async () => {
            await client.admin.projects.delete(project.id);
            showToast(texts.removed(isolate(project.name)));
            navigate('/projects', { replace: true });
          }}
          onClose={() => {
            isAsking.value = false;
          }}
        >
          <p>{texts.removeConsequence}</p>
        </Confirm>
      )}
    </section>
  );
}
