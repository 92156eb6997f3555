// The events that a webhook is for, as checkboxes: all, whole groups, or single types.
import { useSignal } from '@preact/signals';
import type { FormValues } from '../../browser/submit.ts';
import { t } from '../../texts/texts.ts';
import { Check } from '../../ui/field.tsx';
import { describeType, type EventGroup, groupNames, typesOf } from '../events/event-types.ts';

const allName = 'all';

interface TypeFieldsProps {
  /** Null for all. */
  readonly chosen: readonly string[] | null;
  readonly wrong?: string | undefined;
}

/** Each is a field of the form by its own name. */
export function TypeFields({ chosen, wrong }: TypeFieldsProps) {
  const texts = t.webhooks;
  const isAll = useSignal(chosen === null || chosen.includes('*'));
  return (
    <fieldset class="field">
      <legend>{texts.types}</legend>
      {wrong && (
        <span class="wrong" role="alert">
          {wrong}
        </span>
      )}
      <Check
        name={allName}
        label={texts.allTypes}
        hint={texts.allTypesHint}
        checked={isAll.value}
        onChange={(checked) => {
          isAll.value = checked;
        }}
      />
      {!isAll.value && (
        <div class="type-groups">
          {groupNames().map((group) => (
            <GroupFields key={group} group={group} chosen={chosen ?? []} />
          ))}
        </div>
      )}
    </fieldset>
  );
}

/** A group stands for all of its types, also for later ones. */
function GroupFields({ group, chosen }: { group: EventGroup; chosen: readonly string[] }) {
  const pattern = `${group}.*`;
  const isWhole = useSignal(chosen.includes(pattern));
  return (
    <div>
      <Check
        name={pattern}
        label={t.events.groups[group]}
        checked={isWhole.value}
        onChange={(checked) => {
          isWhole.value = checked;
        }}
      />
      {!isWhole.value && (
        <div class="type-group">
          {typesOf(group).map((type) => (
            <Check key={type} name={type} label={describeType(type)} checked={chosen.includes(type)} />
          ))}
        </div>
      )}
    </div>
  );
}

/** Null for all, empty if nothing was chosen. */
export function readTypes(values: FormValues): string[] | null {
  if (values[allName] !== undefined) return null;
  const offered = groupNames().flatMap((group) => [`${group}.*`, ...typesOf(group)]);
  return offered.filter((name) => values[name] !== undefined);
}

export const TypeList = ({ types }: { types: readonly string[] | null }) =>
  types === null ? (
    <span>{t.webhooks.allTypes}</span>
  ) : (
    <span class="scope-list">
      {types.map((type) => (
        <code key={type} class="badge">
          {type}
        </code>
      ))}
    </span>
  );
