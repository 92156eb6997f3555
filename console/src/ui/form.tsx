// A form that sends its fields, shows what the server refused beside each field, and says the rest above the button.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import { concernsOnly, findIssue } from './issues.ts';

export type FormValues = Readonly<Record<string, string>>;

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
  const error = useSignal<unknown>(null);
  const busy = useSignal(false);
  /** False if the error is about something that the form has no field for. */
  const isBesideFields = useSignal(false);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (busy.value || !ready) return;
    busy.value = true;
    error.value = null;
    try {
      await onSubmit(readValues(form), form);
    } catch (failed) {
      error.value = failed;
      isBesideFields.value = concernsOnly(failed, fieldNames(form));
    } finally {
      busy.value = false;
    }
  };
  return (
    <form class="stack" onSubmit={send}>
      {children((field) => findIssue(error.value, field))}
      {error.value !== null && !isBesideFields.value && <ErrorNote error={error.value} />}
      <div class="dialog-feet row end">
        {cancel && <Button onPress={cancel.onPress}>{cancel.label}</Button>}
        <Button type="submit" kind={kind} busy={busy.value} disabled={!ready}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

const readValues = (form: HTMLFormElement): FormValues =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

const fieldNames = (form: HTMLFormElement): string[] =>
  [...form.elements].map((element) => element.getAttribute('name') ?? '');
