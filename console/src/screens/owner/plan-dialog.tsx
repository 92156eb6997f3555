// Creates or edits a plan.
import type { Plan } from '@pakhus/client';
import type { FormValues } from '../../browser/submit.ts';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { readInteger, readLines, readSize, SizeField } from '../../ui/size-field.tsx';
import { showToast } from '../../ui/toasts.tsx';

interface PlanDialogProps {
  /** Null for a new one. */
  readonly plan: Plan | null;
  readonly onClose: () => void;
  readonly onSaved: () => unknown;
}

export function PlanDialog({ plan, onClose, onSaved }: PlanDialogProps) {
  const texts = t.owner.plans;
  return (
    <Dialog title={plan ? texts.edit : texts.create} onClose={onClose}>
      <Form
        submit={plan ? t.ui.save : texts.create}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async (values) => {
          const body = readPlan(values);
          if (plan) await client.project.plans.update(plan.id, body);
          else await client.project.plans.create(body);
          showToast(plan ? texts.saved : texts.created(body.name));
          onClose();
          onSaved();
        }}
      >
        {(wrong) => <PlanFields plan={plan} wrong={wrong} />}
      </Form>
    </Dialog>
  );
}

interface PlanFieldsProps {
  readonly plan: Plan | null;
  readonly wrong: (field: string) => string | undefined;
}

function PlanFields({ plan, wrong }: PlanFieldsProps) {
  const texts = t.owner.plans;
  return (
    <>
      <Field
        label={texts.name}
        name="name"
        value={plan?.name ?? ''}
        required
        autofocus
        wrong={wrong('name')}
      />
      <Field
        label={texts.description}
        name="description"
        value={plan?.description ?? ''}
        wrong={wrong('description')}
      />
      <div class="pair">
        <SizeField
          label={texts.storageLimit}
          name="storageLimit"
          bytes={plan?.storageLimit ?? null}
          hint={texts.storageHint}
          wrong={wrong('storageLimit')}
        />
        <SizeField
          label={texts.maxFileSize}
          name="maxFileSize"
          bytes={plan?.maxFileSize ?? 100e6}
          wrong={wrong('maxFileSize')}
          required
        />
      </div>
      <div class="pair">
        <CountField label={texts.maxFiles} name="maxFiles" value={plan?.maxFiles} wrong={wrong('maxFiles')} />
        <CountField
          label={texts.maxSpaces}
          name="maxSpaces"
          value={plan?.maxSpaces}
          wrong={wrong('maxSpaces')}
        />
      </div>
      <Field
        label={texts.allowedMimes}
        hint={texts.mimesHint}
        name="allowedMimes"
        lines={3}
        value={plan?.allowedMimes.join('\n') ?? ''}
        wrong={wrong('allowedMimes')}
      />
    </>
  );
}

interface CountFieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: number | null | undefined;
  readonly wrong: string | undefined;
}

const CountField = ({ value, ...field }: CountFieldProps) => (
  <Field
    {...field}
    type="number"
    min={0}
    value={value == null ? '' : String(value)}
    hint={t.owner.plans.countHint}
  />
);

const readPlan = (values: FormValues) => ({
  name: values.name?.trim() ?? '',
  description: values.description?.trim() || null,
  storageLimit: readSize(values, 'storageLimit'),
  maxFileSize: readSize(values, 'maxFileSize') ?? 0,
  maxFiles: readInteger(values, 'maxFiles'),
  maxSpaces: readInteger(values, 'maxSpaces'),
  allowedMimes: readLines(values, 'allowedMimes'),
});
