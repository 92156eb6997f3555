// Sends the fields of a form, one time at a time, and keeps what went wrong.
import { useSignal } from '@preact/signals';
import { concernsOnly, findIssue } from './issues.ts';

export type FormValues = Readonly<Record<string, string>>;

export interface Submit {
  /** What has to be said above the buttons: null if all of it is said beside fields. */
  readonly error: unknown;
  readonly isBusy: boolean;
  /** The server's complaint about a field. */
  wrong(field: string): string | undefined;
  send(event: SubmitEvent): Promise<void>;
}

export function useSubmit(
  onSubmit: (values: FormValues, form: HTMLFormElement) => Promise<unknown>,
  isReady = true,
): Submit {
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  /** False if the error is about something that the form has no field for. */
  const isBesideFields = useSignal(false);
  return {
    error: isBesideFields.value ? null : error.value,
    isBusy: isBusy.value,
    wrong: (field) => findIssue(error.value, field),
    async send(event) {
      event.preventDefault();
      const form = event.currentTarget as HTMLFormElement;
      if (isBusy.value || !isReady) return;
      isBusy.value = true;
      error.value = null;
      isBesideFields.value = false;
      try {
        await onSubmit(readValues(form), form);
      } catch (failed) {
        error.value = failed;
        isBesideFields.value = concernsOnly(failed, fieldNames(form));
      } finally {
        isBusy.value = false;
      }
    },
  };
}

const readValues = (form: HTMLFormElement): FormValues =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

const fieldNames = (form: HTMLFormElement): string[] =>
  [...form.elements].map((element) => element.getAttribute('name') ?? '');
