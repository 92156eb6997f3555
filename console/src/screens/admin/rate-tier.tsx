// The rate tier of a project: both values may be left to the installation.
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { toMilliseconds } from './milliseconds.ts';
import type { ProjectCardProps } from './project-card.ts';

export function RateTier({ project, onChanged }: ProjectCardProps) {
  const texts = t.admin.project;
  const { rateLimitMax: max, rateLimitWindow: window } = project;
  return (
    <section class="card stack">
      <h2>{texts.rate}</h2>
      <p class="soft">{texts.rateHint}</p>
      <Form
        submit={texts.save}
        onSubmit={async (values) => {
          await client.admin.projects.update(project.id, {
            rateLimitMax: values.rateLimitMax ? Number(values.rateLimitMax) : null,
            rateLimitWindow: values.rateLimitWindow ? toMilliseconds(values.rateLimitWindow) : null,
          });
          showToast(texts.saved);
          await onChanged();
        }}
      >
        {(wrong) => (
          <>
            <Field
              label={texts.rateMax}
              name="rateLimitMax"
              type="number"
              min={1}
              placeholder={texts.byDefault}
              value={max === null ? '' : String(max)}
              wrong={wrong('rateLimitMax')}
            />
            <Field
              label={texts.rateWindow}
              hint={texts.rateWindowHint}
              name="rateLimitWindow"
              type="number"
              min={1}
              step="any"
              placeholder={texts.byDefault}
              value={window === null ? '' : String(window / 1000)}
              wrong={wrong('rateLimitWindow')}
            />
          </>
        )}
      </Form>
    </section>
  );
}
