// The field for a code of the authenticator app, or for a recovery code.
import { t } from '../../texts/texts.ts';
import { Field } from '../../ui/field.tsx';

export const CodeField = ({ wrong }: { wrong: string | undefined }) => (
  <Field
    label={t.account.code}
    hint={t.account.codeHint}
    name="code"
    autocomplete="one-time-code"
    required
    autofocus
    wrong={wrong}
  />
);
