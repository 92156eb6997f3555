// How long deleted files can be brought back.
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Show } from '../../ui/load.tsx';
import { showToast } from '../../ui/toasts.tsx';

export function TrashSetting() {
  const texts = t.owner.settings;
  const loaded = useLoad((signal) => client.project.settings.get({ signal }), []);
  return (
    <section class="card stack">
      <h2>{texts.trash}</h2>
      <Show of={loaded}>
        {({ trash_days }) => (
          <Form
            submit={t.ui.save}
            onSubmit={async (values) => {
              await client.project.settings.update({ trash_days: Number(values.trash_days) });
              showToast(texts.trashSaved);
            }}
          >
            {(wrong) => (
              <Field
                label={texts.trashDays}
                hint={texts.trashHint}
                name="trash_days"
                type="number"
                min={0}
                max={365}
                required
                value={String(trash_days)}
                wrong={wrong('trash_days')}
              />
            )}
          </Form>
        )}
      </Show>
    </section>
  );
}
