// The form of the filters. It follows the address, also when the person goes back.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { type AuditFilter, emptyFilter, isAdmin } from './filter.ts';

export function Filters({ filter }: { filter: AuditFilter }) {
  const form = useRef<HTMLFormElement>(null);
  const values: Readonly<Record<string, string>> = filter;
  // Before the form is painted: later it would overwrite what a quick hand has already chosen.
  useLayoutEffect(() => {
    for (const input of form.current?.querySelectorAll<HTMLInputElement>('[name]') ?? [])
      input.value = values[input.name] ?? '';
  }, [JSON.stringify(filter)]);
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    if (!form.current) return;
    const entries = [...new FormData(form.current)].map(([name, value]) => [name, String(value).trim()]);
    setQuery(Object.fromEntries(entries));
  };
  const texts = t.audit;
  return (
    <form ref={form} class="card audit-filters" aria-label={texts.filters} onSubmit={apply}>
      <Select label={texts.action} name="action" options={toActionOptions(filter.action)} />
      <Select
        label={texts.actor}
        name="actor_type"
        options={[['', texts.anyActor], ...Object.entries(texts.actors)]}
      />
      {isAdmin() && <Field label={texts.project} name="project_id" autocomplete="off" />}
      <Field label={texts.user} name="user_id" autocomplete="off" />
      <Field label={texts.from} name="from" type={toDateType(filter.from)} />
      <Field label={texts.to} name="to" type={toDateType(filter.to)} />
      <div class="row buttons">
        <Button type="submit" kind="primary">
          {texts.apply}
        </Button>
        {Object.keys(filter).length > 0 && (
          <Button onPress={() => setQuery(emptyFilter)}>{texts.clear}</Button>
        )}
      </div>
    </form>
  );
}

/** A link may name a time of the day, which a date input would hide. */
const toDateType = (value = ''): 'date' | 'text' => (/^(\d{4}-\d\d-\d\d)?$/.test(value) ? 'date' : 'text');

/** A link may name an action that this console does not know: it stays as it is. */
function toActionOptions(chosen: string | undefined): readonly (readonly [string, string])[] {
  const { actions, anyAction } = t.audit;
  const known = Object.entries(actions).map(([action, name]) => [action, `${name} (${action})`] as const);
  const other = chosen && !(chosen in actions) ? [[chosen, chosen] as const] : [];
  return [['', anyAction], ...known, ...other];
}
