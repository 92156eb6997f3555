// What can be done with a webhook, in its row and on its own screen.
import type { Webhook } from '@pakhus/client';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Confirm } from '../../ui/confirm.tsx';
import type { MenuItem } from '../../ui/menu.tsx';
import { Foreign } from '../../ui/parts.tsx';
import { SecretDialog } from '../../ui/secret.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';

export type OpenDialog =
  | { readonly kind: 'edit'; readonly webhook: Webhook | null }
  | { readonly kind: 'rotate' | 'remove'; readonly webhook: Webhook }
  | { readonly kind: 'secret'; readonly secret: string };

export function webhookActions(
  webhook: Webhook,
  onOpen: (next: OpenDialog) => void,
  onChange: () => unknown,
): readonly MenuItem[] {
  const texts = t.webhooks;
  const { id, active } = webhook;
  return [
    { label: texts.edit, onPress: () => onOpen({ kind: 'edit', webhook }) },
    {
      label: active ? texts.pause : texts.resume,
      onPress: () =>
        attempt(async () => {
          await (await client.project.webhooks()).update(id, { active: !active });
          showToast(active ? texts.pausedToast : texts.resumedToast);
          await onChange();
        }),
    },
    { label: texts.rotate, onPress: () => onOpen({ kind: 'rotate', webhook }) },
    { label: texts.remove, danger: true, onPress: () => onOpen({ kind: 'remove', webhook }) },
  ];
}

interface WebhookDialogsProps {
  readonly open: OpenDialog | null;
  readonly onOpen: (next: OpenDialog | null) => void;
  readonly onChange: () => unknown;
  readonly onRemoved?: () => void;
}

export function WebhookDialogs({ open, onOpen, onChange, onRemoved = onChange }: WebhookDialogsProps) {
  const texts = t.webhooks;
  const close = () => onOpen(null);
  const showSecret = (secret: string) => {
    onOpen({ kind: 'secret', secret });
    onChange();
  };
  if (!open) return null;
  if (open.kind === 'secret')
    return (
      <SecretDialog title={texts.secret} label={texts.secret} value={open.secret} onClose={close}>
        <p class="soft">{texts.secretHint}</p>
      </SecretDialog>
    );
  if (open.kind === 'edit')
    return <WebhookDialog webhook={open.webhook} onClose={close} onSaved={onChange} onCreated={showSecret} />;
  const { webhook } = open;
  const isRotation = open.kind === 'rotate';
  return (
    <Confirm
      title={isRotation ? texts.rotateTitle : texts.removeTitle}
      action={isRotation ? texts.rotate : texts.remove}
      closes={!isRotation}
      onClose={close}
      onConfirm={async () => {
        if (isRotation)
          return showSecret((await (await client.project.webhooks()).rotateSecret(webhook.id)).secret);
        await (await client.project.webhooks()).delete(webhook.id);
        showToast(texts.removed);
        onRemoved();
      }}
    >
      <p class="breakable">
        <strong>
          <Foreign>{webhook.url}</Foreign>
        </strong>
      </p>
      <p>{isRotation ? texts.rotateHint : texts.removeHint}</p>
    </Confirm>
  );
}
