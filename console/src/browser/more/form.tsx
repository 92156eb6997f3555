// Forms in dialogs: labelled fields with hints, and the server's complaints beside them.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { ErrorView } from '../error-view.tsx';
import { type FormValues, useSubmit } from '../submit.ts';

interface FormProps {
  readonly action: string;
  readonly kind?: 'primary' | 'danger';
  readonly onSubmit: (values: FormValues) => Promise<unknown>;
  readonly onCancel?: () => void;
  /** Gets a function that finds the server's complaint about a field. */
  readonly children: (wrong: (field: string) => string | undefined) => ComponentChildren;
}

export function Form({ action, kind = 'primary', onSubmit, onCancel, children }: FormProps) {
  const { t } = useBrowsing();
  const { error, isBusy, wrong, send } = useSubmit(onSubmit);
  return (
    <form class="stack" onSubmit={send}>
      {children(wrong)}
      {error !== null && <ErrorView error={error} />}
      <div class="dialog-buttons">
        {onCancel && <Button onPress={onCancel}>{t('cancel')}</Button>}
        <Button kind={kind} isSubmit isDisabled={isBusy}>
          {action}
        </Button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly type?: 'text' | 'search' | 'number' | 'password' | 'datetime-local';
  /** With `onInput`, what is shown; without, what it begins with. */
  readonly value?: string;
  readonly hint?: string | undefined;
  readonly wrong?: string | undefined;
  readonly required?: boolean;
  readonly min?: number;
  readonly maxLength?: number;
  readonly onInput?: (value: string) => void;
}

export function Field({ label, hint, wrong, type = 'text', value, onInput, ...input }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        id={id}
        // One of those that take text.
        type={type as 'text'}
        dir={type === 'text' ? 'auto' : undefined}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        {...(onInput ? { value } : { defaultValue: value })}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={hint || wrong ? `${id}-note` : undefined}
        onInput={(event) => onInput?.(event.currentTarget.value)}
      />
      {(hint || wrong) && (
        <small id={`${id}-note`} class={wrong ? 'wrong' : undefined} role={wrong ? 'alert' : undefined}>
          {wrong ?? hint}
        </small>
      )}
    </div>
  );
}
