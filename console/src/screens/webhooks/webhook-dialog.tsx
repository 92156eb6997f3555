// Creates or edits a webhook.
import type { Webhook } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { readTypes, TypeFields } from './type-fields.tsx';

interface WebhookDialogProps {
  /** Null for a new one. */
  readonly webhook: Webhook | null;
  readonly onClose: () => void;
  readonly onSaved: () => unknown;
  readonly onCreated: (secret: string) => void;
}

export function WebhookDialog({ webhook, onClose, onSaved, onCreated }: WebhookDialogProps) {
  const texts = t.webhooks;
  const isNone = useSignal(false);
  return (
    <Dialog title={webhook ? texts.editTitle : texts.create} onClose={onClose}>
      <Form
        submit={webhook ? t.ui.save : texts.create}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async (values) => {
          const body = { url: values.url?.trim() ?? '', types: readTypes(values) };
          isNone.value = body.types?.length === 0;
          if (isNone.value) return;
          const webhooks = await client.project.webhooks();
          if (!webhook) {
            onCreated((await webhooks.create(body)).secret);
            return;
          }
          await webhooks.update(webhook.id, body);
          showToast(texts.saved);
          onClose();
          onSaved();
        }}
      >
        {(wrong) => (
          <>
            <Field
              label={texts.url}
              hint={texts.urlHint}
              name="url"
              value={webhook?.url ?? ''}
              placeholder="https://"
              maxLength={2048}
              autocomplete="off"
              required
              autofocus
              wrong={wrong('url')}
            />
            <TypeFields
              chosen={webhook?.types ?? null}
              wrong={isNone.value ? texts.noTypes : wrong('types')}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
