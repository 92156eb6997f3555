// What is done to a user: created, suspended, given another plan, deleted.
import type { Plan, User } from '@pakhus/client';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { navigate } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Show } from '../../ui/load.tsx';
import { Foreign } from '../../ui/parts.tsx';
import { showToast } from '../../ui/toasts.tsx';

export interface UserDialog {
  readonly kind: 'plan' | 'remove';
  readonly user: User;
}

interface UserDialogsProps {
  readonly open: UserDialog;
  readonly onClose: () => void;
  readonly onChange: () => unknown;
  readonly onRemoved?: () => void;
}

export const UserDialogs = ({ open: { kind, user }, onClose, onChange, onRemoved }: UserDialogsProps) =>
  kind === 'plan' ? (
    <ChangePlan user={user} onClose={onClose} onChange={onChange} />
  ) : (
    <RemoveUser user={user} onClose={onClose} onRemoved={onRemoved ?? onChange} />
  );

/** Undone by a click: nothing is lost. */
const setUserActive = (user: User, active: boolean, onChange: () => Promise<void>): Promise<void> =>
  attempt(async () => {
    const texts = t.owner.users;
    await client.user(user).update({ active });
    showToast((active ? texts.resumedToast : texts.suspendedToast)(user.external_id), {
      label: texts.undo,
      run: () =>
        attempt(async () => {
          await client.user(user).update({ active: !active });
          await onChange();
        }),
    });
    await onChange();
  });

export const userActions = (
  user: User,
  onOpen: (next: UserDialog) => void,
  onChange: () => Promise<void>,
) => [
  { label: t.owner.users.changePlan, onPress: () => onOpen({ kind: 'plan', user }) },
  {
    label: user.active ? t.owner.users.suspend : t.owner.users.resume,
    onPress: () => setUserActive(user, !user.active, onChange),
  },
  { label: t.owner.users.remove, danger: true, onPress: () => onOpen({ kind: 'remove', user }) },
];

/** Enough to choose from. */
const plansMax = 100;

const usePlans = () =>
  useLoad(
    async (signal) => (await client.project.plans.list({ limit: plansMax }, { signal }).page()).plans,
    [],
  );

const toOptions = (plans: readonly Plan[]) => plans.map(({ id, name }) => [id, name] as const);

export function CreateUser({ onClose }: { onClose: () => void }) {
  const texts = t.owner.users;
  const plans = usePlans();
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form
        submit={texts.create}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async ({ externalId = '', planId }) => {
          const user = await client.users.create({ externalId, ...(planId && { planId }) });
          showToast(texts.createdToast(user.external_id));
          onClose();
          navigate(`/users/${user.id}/files`);
        }}
      >
        {(wrong) => (
          <>
            <Field
              label={texts.externalId}
              hint={texts.externalIdHint}
              name="externalId"
              required
              autofocus
              autocomplete="off"
              wrong={wrong('externalId')}
            />
            {plans.data && plans.data.length > 0 && (
              <Select
                label={texts.plan}
                name="planId"
                options={[['', texts.planDefault], ...toOptions(plans.data)]}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}

interface ChangePlanProps {
  readonly user: User;
  readonly onClose: () => void;
  readonly onChange: () => unknown;
}

function ChangePlan({ user, onClose, onChange }: ChangePlanProps) {
  const texts = t.owner.users;
  const plans = usePlans();
  return (
    <Dialog title={texts.changePlan} onClose={onClose}>
      <p>
        <Foreign>{user.external_id}</Foreign>
      </p>
      <Show of={plans}>
        {(known) =>
          known.length === 0 ? (
            <p>{t.owner.plans.empty}</p>
          ) : (
            <Form
              submit={t.ui.save}
              cancel={{ label: t.ui.cancel, onPress: onClose }}
              onSubmit={async ({ planId = '' }) => {
                const changed = await client.user(user).assignPlan(planId);
                showToast(texts.planChanged(user.external_id, changed.plan?.name ?? ''));
                onClose();
                onChange();
              }}
            >
              {() => (
                <Select
                  label={texts.plan}
                  name="planId"
                  options={toOptions(known)}
                  {...(user.plan && { value: user.plan.id })}
                />
              )}
            </Form>
          )
        }
      </Show>
    </Dialog>
  );
}

interface RemoveUserProps {
  readonly user: User;
  readonly onClose: () => void;
  readonly onRemoved: () => unknown;
}

function RemoveUser({ user, onClose, onRemoved }: RemoveUserProps) {
  const texts = t.owner.users;
  return (
    <Confirm
      title={texts.removeTitle}
      action={texts.remove}
      typed={user.external_id}
      onClose={onClose}
      onConfirm={async () => {
        await client.user(user).delete();
        showToast(texts.removed(user.external_id));
        onRemoved();
      }}
    >
      <p>{texts.removeHint(formatBytes(user.storageUsed))}</p>
    </Confirm>
  );
}
