// Requests a link for a new password. The answer is the same for every address.
import { useSignal } from '@preact/signals';
import { accountClient } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { isolate } from '../../ui/format.ts';

export function ForgotPassword() {
  const texts = t.account;
  const sentTo = useSignal<string | null>(null);
  if (sentTo.value !== null)
    return (
      <div class="stack" role="status">
        <ScreenTitle>{texts.forgotSent}</ScreenTitle>
        <p class="breakable">{texts.forgotSentHint(isolate(sentTo.value))}</p>
        <div class="row spread">
          <Link to="/">{texts.backToLogin}</Link>
          <Button
            kind="plain"
            size="small"
            onPress={() => {
              sentTo.value = null;
            }}
          >
            {texts.forgotAgain}
          </Button>
        </div>
      </div>
    );
  return (
    <div class="stack">
      <ScreenTitle>{texts.forgotTitle}</ScreenTitle>
      <p class="soft">{texts.forgotHint}</p>
      <Form
        submit={texts.forgotSend}
        onSubmit={async ({ email = '' }) => {
          await accountClient.auth.forgotPassword(email);
          sentTo.value = email;
        }}
      >
        {(wrong) => (
          <Field
            label={texts.email}
            name="email"
            type="email"
            autocomplete="username"
            required
            autofocus
            wrong={wrong('email')}
          />
        )}
      </Form>
      <p>
        <Link to="/">{texts.backToLogin}</Link>
      </p>
    </div>
  );
}
