// Creates or edits an integration.
import type { Integration } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import type { FormValues } from '../../browser/submit.ts';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { readScopes, ScopeFields } from '../../ui/scopes.tsx';
import { readInteger, readLines } from '../../ui/size-field.tsx';
import { showToast } from '../../ui/toasts.tsx';

interface IntegrationDialogProps {
  /** Null for a new one. */
  readonly integration: Integration | null;
  readonly onClose: () => void;
  readonly onSaved: () => unknown;
  readonly onCreated: (key: string) => void;
}

export function IntegrationDialog({ integration, onClose, onSaved, onCreated }: IntegrationDialogProps) {
  const texts = t.owner.integrations;
  const half = useSignal(false);
  return (
    <Dialog title={integration ? texts.edit : texts.create} onClose={onClose}>
      <Form
        submit={integration ? t.ui.save : texts.create}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async (values) => {
          const body = readIntegration(values);
          half.value = (body.rateLimitMax === null) !== (body.rateLimitWindow === null);
          if (half.value) return;
          if (!integration) {
            onCreated((await client.project.integrations.create(body)).api_key);
            return;
          }
          await client.project.integrations.update(integration.id, body);
          showToast(texts.saved);
          onClose();
          onSaved();
        }}
      >
        {(wrong) => <Fields integration={integration} wrong={wrong} isHalf={half.value} />}
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly integration: Integration | null;
  readonly wrong: (field: string) => string | undefined;
  /** Only one of the two numbers of a rate was given. */
  readonly isHalf: boolean;
}

function Fields({ integration, wrong, isHalf }: FieldsProps) {
  const texts = t.owner.integrations;
  const max = integration?.rateLimitMax ?? null;
  const window = integration?.rateLimitWindow ?? null;
  return (
    <>
      <Field
        label={texts.name}
        name="name"
        value={integration?.name ?? ''}
        maxLength={100}
        autofocus
        wrong={wrong('name')}
      />
      <ScopeFields chosen={integration?.scopes ?? []} wrong={wrong('scopes')} />
      <Field
        label={texts.origins}
        hint={texts.originsHint}
        name="corsOrigins"
        lines={2}
        value={integration?.corsOrigins.join('\n') ?? ''}
        wrong={wrong('corsOrigins')}
      />
      <div class="pair">
        <Field
          label={texts.limit}
          hint={texts.limitHint}
          name="rateLimitMax"
          type="number"
          min={1}
          value={max === null ? '' : String(max)}
          wrong={isHalf ? texts.limitBoth : wrong('rateLimitMax')}
        />
        <Field
          label={texts.limitWindow}
          name="rateLimitWindow"
          type="number"
          min={1}
          value={window === null ? '' : String(window / 1000)}
          wrong={wrong('rateLimitWindow')}
        />
      </div>
      <Check
        label={texts.devMode}
        hint={texts.devModeHint}
        name="devMode"
        checked={integration?.devMode ?? false}
      />
    </>
  );
}

function readIntegration(values: FormValues) {
  const seconds = readInteger(values, 'rateLimitWindow');
  return {
    name: values.name?.trim() || null,
    scopes: readScopes(values),
    corsOrigins: readLines(values, 'corsOrigins'),
    devMode: values.devMode !== undefined,
    rateLimitMax: readInteger(values, 'rateLimitMax'),
    rateLimitWindow: seconds === null ? null : seconds * 1000,
  };
}
