// A number of bytes, entered as a number and a unit.
import { useId } from 'preact/hooks';
import type { FormValues } from '../browser/submit.ts';
import { t } from '../texts/texts.ts';

const units = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;
type Unit = keyof typeof units;

interface SizeFieldProps {
  readonly label: string;
  readonly name: string;
  readonly bytes?: number | null;
  readonly unit?: Unit;
  readonly hint?: string;
  readonly wrong?: string | undefined;
  readonly required?: boolean;
}

export function SizeField({ label, name, bytes, unit = 'GB', hint, wrong, required }: SizeFieldProps) {
  const id = useId();
  const shown = bytes ? chooseUnit(bytes) : unit;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="size-field">
        <input
          id={id}
          class="input"
          name={name}
          inputMode="decimal"
          pattern="[0-9]+([.,][0-9]+)?"
          title={t.ui.size.wrong}
          defaultValue={bytes ? String(bytes / units[shown]) : ''}
          required={required}
          aria-describedby={hint || wrong ? `${id}-hint` : undefined}
          aria-invalid={wrong ? true : undefined}
        />
        <select class="input" name={`${name}.unit`} aria-label={t.ui.size.unit(label)}>
          {Object.keys(units).map((option) => (
            <option key={option} selected={option === shown}>
              {option}
            </option>
          ))}
        </select>
      </div>
      {(hint || wrong) && (
        <span class={wrong ? 'wrong' : 'hint'} id={`${id}-hint`}>
          {wrong ?? hint}
        </span>
      )}
    </div>
  );
}

/** The largest in which the number stays exact and short. */
function chooseUnit(bytes: number): Unit {
  const fitting = (Object.keys(units) as Unit[]).filter((unit) => bytes >= units[unit]);
  return fitting.at(-1) ?? 'kB';
}

/** Null if the field was left empty. */
export function readSize(values: FormValues, name: string): number | null {
  const text = values[name]?.trim().replace(',', '.');
  if (!text) return null;
  return Math.round(Number(text) * (units[values[`${name}.unit`] as Unit] ?? 1));
}

/** Null if the field was left empty. */
export const readInteger = (values: FormValues, name: string): number | null =>
  values[name]?.trim() ? Number(values[name]) : null;

export const readLines = (values: FormValues, name: string): string[] =>
  (values[name] ?? '')
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
