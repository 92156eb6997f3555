// Labelled inputs with hints and errors that screen readers connect to them.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly hint?: ComponentChildren;
  readonly wrong?: string | undefined;
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'date' | 'datetime-local';
  readonly value?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly inputMode?: 'text' | 'numeric' | 'email' | 'search';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  /** "any" allows fractions. */
  readonly step?: number | 'any';
  readonly lines?: number;
  readonly autofocus?: boolean;
  readonly readOnly?: boolean;
  readonly onInput?: (value: string) => void;
}

export function Field({ label, hint, wrong, lines, onInput, value, autofocus, type, ...input }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ') || undefined;
  const shared = {
    ...input,
    id,
    class: 'input',
    'aria-describedby': described,
    'aria-invalid': wrong ? true : undefined,
    autoFocus: autofocus,
    onInput: (event: { currentTarget: { value: string } }) => onInput?.(event.currentTarget.value),
  };
  const content = onInput ? { value } : { defaultValue: value };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {lines ? (
        <textarea {...shared} rows={lines} {...content} />
      ) : (
        // The type is one of those that take text.
        <input {...shared} type={(type ?? 'text') as 'text'} {...content} />
      )}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span class="wrong" id={`${id}-wrong`} role="alert">
          {wrong}
        </span>
      )}
    </div>
  );
}

interface SelectProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly value?: string;
  readonly hint?: string;
  readonly onChange?: (value: string) => void;
}

export function Select({ label, name, options, value, hint, onChange }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        class="input"
        aria-describedby={hint && `${id}-hint`}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

interface CheckProps {
  readonly label: ComponentChildren;
  readonly name: string;
  readonly value?: string;
  readonly hint?: string;
  readonly checked?: boolean;
  readonly onChange?: (checked: boolean) => void;
}

export const Check = ({ label, hint, checked, onChange, ...input }: CheckProps) => (
  <label class="choice">
    <input
      {...input}
      type="checkbox"
      {...(onChange ? { checked } : { defaultChecked: checked })}
      onChange={(event) => onChange?.(event.currentTarget.checked)}
    />
    <span>
      {label}
      {hint && <small>{hint}</small>}
    </span>
  </label>
);
