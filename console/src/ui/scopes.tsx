// Scopes in words: to choose from, and to show.
import type { Scope } from '@pakhus/client';
import { t } from '../texts/texts.ts';
import { Check } from './field.tsx';

export const allScopes = [
  'users:read',
  'users:write',
  'files:read',
  'files:write',
  'files:delete',
  'files:share',
  'plans:read',
  'plans:assign',
  'stats:read',
  'spaces:login',
  'events:read',
] as const satisfies readonly Scope[];

interface ScopeFieldsProps {
  readonly offered?: readonly Scope[];
  readonly chosen: readonly Scope[];
  readonly wrong?: string | undefined;
}

/** Each is a field of the form by its own name. */
export const ScopeFields = ({ offered = allScopes, chosen, wrong }: ScopeFieldsProps) => (
  <fieldset class="field">
    <legend>{t.ui.scopes.title}</legend>
    <span class="hint">{wrong ?? t.ui.scopes.hint}</span>
    {offered.map((scope) => (
      <Check
        key={scope}
        name={scope}
        label={<code>{scope}</code>}
        hint={t.ui.scopes.words[scope]}
        checked={chosen.includes(scope)}
      />
    ))}
  </fieldset>
);

export const readScopes = (values: Readonly<Record<string, string>>): Scope[] =>
  allScopes.filter((scope) => values[scope] !== undefined);

export const ScopeList = ({ scopes }: { scopes: readonly Scope[] }) =>
  scopes.length === 0 ? (
    <span class="soft">{t.ui.scopes.none}</span>
  ) : (
    <span class="scope-list">
      {scopes.map((scope) => (
        <code key={scope} class="badge" title={t.ui.scopes.words[scope]}>
          {scope}
        </code>
      ))}
    </span>
  );
