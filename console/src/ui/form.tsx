// A form that sends its fields, shows what the server refused beside each field, and says the rest above the button.
import type { ComponentChildren } from 'preact';
import { type FormValues, useSubmit } from '../browser/submit.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

interface FormProps {
  readonly submit: string;
  readonly kind?: 'primary' | 'danger';
  /** False while what was typed cannot be sent. */
  readonly ready?: boolean;
  readonly onSubmit: (values: FormValues, form: HTMLFormElement) => Promise<unknown>;
  /** Gets a function that finds the server's complaint about a field. */
  readonly children: (wrong: (field: string) => string | undefined) => ComponentChildren;
  readonly cancel?: { readonly label: string; readonly onPress: () => void };
}

export function Form({ submit, kind = 'primary', ready = true, onSubmit, children, cancel }: FormProps) {
  const { error, isBusy, wrong, send } = useSubmit(onSubmit, ready);
  return (
    <form class="stack" onSubmit={send}>
      {children(wrong)}
      {error !== null && <ErrorNote error={error} />}
      <div class="dialog-feet row end">
        {cancel && <Button onPress={cancel.onPress}>{cancel.label}</Button>}
        <Button type="submit" kind={kind} busy={isBusy} disabled={!ready}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
