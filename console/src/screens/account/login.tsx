// Login by password and, if the account wants one, a second factor.
import { useSignal } from '@preact/signals';
import { accountClient } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { enter, leave, session } from '../../frame/session.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { CodeField } from './code-field.tsx';

/** `isAgain`: in a dialog above a screen whose session has ended. */
export function Login({ isAgain = false }: { isAgain?: boolean }) {
  const challenge = useSignal<string | null>(null);
  const takeChallenge = (token: string) => {
    challenge.value = token;
  };
  if (challenge.value)
    return (
      <CodeForm
        challenge={challenge.value}
        isAgain={isAgain}
        onBack={() => {
          challenge.value = null;
        }}
      />
    );
  return <PasswordForm isAgain={isAgain} onChallenge={takeChallenge} />;
}

interface PasswordFormProps {
  readonly isAgain: boolean;
  readonly onChallenge: (token: string) => void;
}

function PasswordForm({ isAgain, onChallenge }: PasswordFormProps) {
  const texts = t.account;
  return (
    <div class="stack">
      {!isAgain && <ScreenTitle>{texts.logIn}</ScreenTitle>}
      <Form
        submit={texts.logIn}
        {...(isAgain && { cancel: { label: texts.otherAccount, onPress: leave } })}
        onSubmit={async ({ email = '', password = '' }) => {
          const answer = await accountClient.auth.login({ email, password });
          if ('challenge_token' in answer) onChallenge(answer.challenge_token);
          else await enter();
        }}
      >
        {(wrong) => (
          <>
            <Field
              label={texts.email}
              name="email"
              type="email"
              autocomplete="username"
              value={isAgain ? (session.value?.email ?? '') : ''}
              readOnly={isAgain}
              required
              autofocus={!isAgain}
              wrong={wrong('email')}
            />
            <Field
              label={texts.password}
              name="password"
              type="password"
              autocomplete="current-password"
              required
              autofocus={isAgain}
              wrong={wrong('password')}
            />
          </>
        )}
      </Form>
      {!isAgain && (
        <p>
          <Link to="/forgot-password">{texts.forgot}</Link>
        </p>
      )}
    </div>
  );
}

interface CodeFormProps {
  readonly challenge: string;
  readonly isAgain: boolean;
  readonly onBack: () => void;
}

function CodeForm({ challenge, isAgain, onBack }: CodeFormProps) {
  const texts = t.account;
  return (
    <div class="stack">
      {!isAgain && <ScreenTitle>{texts.codeWanted}</ScreenTitle>}
      <Form
        submit={texts.codeSend}
        onSubmit={async ({ code = '' }) => {
          await accountClient.auth.twoFactor.login({
            challenge_token: challenge,
            code: code.replaceAll(/\s/g, ''),
          });
          await enter();
        }}
      >
        {(wrong) => <CodeField wrong={wrong('code')} />}
      </Form>
      <div>
        <Button kind="plain" size="small" icon="back" onPress={onBack}>
          {texts.codeBack}
        </Button>
      </div>
    </div>
  );
}
