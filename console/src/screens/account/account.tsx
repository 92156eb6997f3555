// The account of the person who is logged in: password, two-factor login, sessions.
import './account.css';
import { useSignal } from '@preact/signals';
import type { FormValues } from '../../browser/submit.ts';
import { accountClient } from '../../frame/api.ts';
import { logOut } from '../../frame/log-out.ts';
import { ScreenTitle } from '../../frame/screens.tsx';
import { session } from '../../frame/session.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Foreign, Time } from '../../ui/parts.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { newPasswordFields, takeNewPassword } from './new-password.tsx';
import { TwoFactor } from './two-factor.tsx';

export function Account() {
  const account = session.value;
  if (!account) return null;
  const texts = t.account;
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
      </div>
      <dl class="facts card">
        <dt>{texts.signedInAs}</dt>
        <dd>
          <Foreign>{account.email}</Foreign>
        </dd>
        <dt>{texts.role}</dt>
        <dd>
          {account.role === 'admin' ? texts.roleAdmin : texts.roleOwner}{' '}
          {account.role === 'project' && <Foreign>{account.name}</Foreign>}
        </dd>
        <dt>{texts.sessionUntil}</dt>
        <dd>
          <Time at={account.expires_at} />
        </dd>
      </dl>
      <div class="columns">
        <ChangePassword email={account.email} />
        <div class="stack">
          <TwoFactor email={account.email} />
          <Sessions />
        </div>
      </div>
    </div>
  );
}

function ChangePassword({ email }: { email: string }) {
  const texts = t.account;
  const send = async (values: FormValues, form: HTMLFormElement) => {
    const { currentPassword = '' } = values;
    await accountClient.auth.changePassword({ currentPassword, newPassword: takeNewPassword(values) });
    form.reset();
    showToast(texts.changed);
  };
  return (
    <section class="card stack">
      <h2>{texts.changeTitle}</h2>
      <p class="soft">{texts.changeHint}</p>
      <Form submit={texts.changeSave} onSubmit={send}>
        {(wrong) => (
          <>
            {/* Tells a password manager whose password changes. */}
            <input name="username" autocomplete="username" value={email} readOnly hidden />
            <Field
              label={texts.currentPassword}
              name="currentPassword"
              type="password"
              autocomplete="current-password"
              required
              wrong={wrong('currentPassword')}
            />
            {newPasswordFields(wrong)}
          </>
        )}
      </Form>
    </section>
  );
}

function Sessions() {
  const isAsking = useSignal(false);
  const texts = t.account;
  return (
    <section class="card stack">
      <h2>{texts.sessions}</h2>
      <p class="soft">{texts.sessionsHint}</p>
      <div class="row">
        <Button icon="logout" onPress={() => logOut()}>
          {texts.logOut}
        </Button>
        <Button
          onPress={() => {
            isAsking.value = true;
          }}
        >
          {texts.everywhere}
        </Button>
      </div>
      {isAsking.value && (
        <Confirm
          title={texts.everywhereTitle}
          action={texts.everywhere}
          onConfirm={() => logOut(accountClient.auth.logoutEverywhere)}
          onClose={() => {
            isAsking.value = false;
          }}
        >
          <p>{texts.everywhereHint}</p>
        </Confirm>
      )}
    </section>
  );
}
