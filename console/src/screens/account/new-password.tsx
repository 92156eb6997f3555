// A new password, typed twice.
import { PakhusError } from '@pakhus/client';
import type { FormValues } from '../../browser/submit.ts';
import { t } from '../../texts/texts.ts';
import { Field } from '../../ui/field.tsx';

const lengthMin = 8;

type FindWrong = (field: string) => string | undefined;

/** Not a component: the form must know at once which fields show their own errors. */
export const newPasswordFields = (wrong: FindWrong, { autofocus = false } = {}) => (
  <>
    <Field
      label={t.account.newPassword}
      hint={t.account.newPasswordHint}
      name="newPassword"
      type="password"
      autocomplete="new-password"
      minLength={lengthMin}
      required
      autofocus={autofocus}
      wrong={wrong('newPassword')}
    />
    <Field
      label={t.account.newPasswordAgain}
      name="again"
      type="password"
      autocomplete="new-password"
      required
      wrong={wrong('again')}
    />
  </>
);

/** Throws what the form shows beside the second field if the two differ. */
export function takeNewPassword({ newPassword = '', again = '' }: FormValues): string {
  if (newPassword === again) return newPassword;
  const message = t.account.passwordsDiffer;
  throw new PakhusError('INVALID_ARGUMENT', message, { details: { issues: [{ path: 'again', message }] } });
}
