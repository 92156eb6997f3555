// Sets a new password with the token of a mailed link.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { findIssue } from '../../browser/issues.ts';
import type { FormValues } from '../../browser/submit.ts';
import { accountClient } from '../../frame/api.ts';
import { address, Link, navigate } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { leave, session } from '../../frame/session.ts';
import { t } from '../../texts/texts.ts';
import { Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { newPasswordFields, takeNewPassword } from './new-password.tsx';

export function ResetPassword() {
  const token = useMemo(() => address.peek().query.get('token'), []);
  const isDead = useSignal(!token);
  // Keeps the token out of the address bar and the history.
  useEffect(() => navigate('/reset-password', { replace: true }), []);
  const texts = t.account;
  const send = async (values: FormValues) => {
    try {
      await accountClient.auth.resetPassword({ token: token ?? '', newPassword: takeNewPassword(values) });
    } catch (error) {
      if (!findIssue(error, 'token')) throw error;
      isDead.value = true;
      return;
    }
    // The session of this browser has ended with the others.
    if (session.value) leave();
    showToast(texts.resetDone);
    navigate('/', { replace: true });
  };
  if (isDead.value) return <DeadLink />;
  return (
    <div class="stack">
      <ScreenTitle>{texts.resetTitle}</ScreenTitle>
      <p class="soft">{texts.resetHint}</p>
      <Form submit={texts.resetSave} onSubmit={send}>
        {(wrong) => newPasswordFields(wrong, { autofocus: true })}
      </Form>
    </div>
  );
}

const DeadLink = () => (
  <div class="stack" role="alert">
    <ScreenTitle>{t.account.linkDead}</ScreenTitle>
    <p>{t.account.linkDeadHint}</p>
    <div class="row spread">
      <Link to="/forgot-password">{t.account.linkAgain}</Link>
      <Link to="/">{t.account.backToLogin}</Link>
    </div>
  </div>
);
