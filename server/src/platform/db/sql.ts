// SQL as a tagged template. Every interpolation becomes a parameter, except nested Sql, which is spliced in with its own
// parameters. Statements are prepared under a name derived from their text.
import { hash } from 'node:crypto';

/** A class, so that nested Sql is distinguished from parameters by `instanceof`. */
export class Sql {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Name of the prepared statement; empty if it is not prepared. */
  readonly name: string;

  constructor(text: string, values: readonly unknown[], name: string) {
    this.text = text;
    this.values = values;
    this.name = name;
  }
}

interface Prepared {
  readonly text: string;
  readonly name: string;
}

const preparedByText = new Map<string, Prepared>();
/**
 * A call site always passes the same strings array, and nested Sql is identified by its name: so the same combination is
 * assembled once.
 */
const preparedBySite = new WeakMap<readonly string[], Map<string, Prepared>>();

export const noSql = new Sql('', [], '');

export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  return assembled(strings, values);
}

/** A constant inside the statement's text: PostgreSQL plans better with known values. */
export function constantSql(value: number): Sql {
  const { text, name } = prepare(String(value));
  return new Sql(text, [], name);
}

/** Planned for its values on every call: the plan of a prepared statement may become one for all values. */
export const unprepared = ({ text, values }: Sql): Sql => new Sql(text, values, '');

/** UUIDs as array text: they need no escaping, so `pg` does not have to scan every element. */
export const arrayOfIds = (ids: readonly (string | null)[]): string =>
  `{${ids.map((id) => id ?? 'null').join()}}`;

function assembled(strings: readonly string[], values: readonly unknown[]): Sql {
  let pieces = '';
  const flat: unknown[] = [];
  for (const value of values) {
    if (value instanceof Sql) {
      pieces += `${value.name},`;
      for (const inner of value.values) flat.push(inner);
    } else flat.push(value);
  }
  let known = preparedBySite.get(strings);
  if (!known) {
    known = new Map();
    preparedBySite.set(strings, known);
  }
  let prepared = known.get(pieces);
  if (!prepared) {
    prepared = prepare(textOf(strings, values));
    known.set(pieces, prepared);
  }
  return new Sql(prepared.text, flat, prepared.name);
}

function textOf(strings: readonly string[], values: readonly unknown[]): string {
  let text = strings[0] ?? '';
  let offset = 0;
  values.forEach((value, index) => {
    if (value instanceof Sql) {
      const before = offset;
      text += value.text.replace(/\$(\d+)/g, (_, n: string) => `$${Number(n) + before}`);
      offset += value.values.length;
    } else {
      offset += 1;
      text += `$${offset}`;
    }
    text += strings[index + 1] ?? '';
  });
  return text;
}

function prepare(text: string): Prepared {
  let prepared = preparedByText.get(text);
  if (!prepared) {
    // Derived from the text: on a shared connection, a name must not mean two statements.
    prepared = { text, name: `pakhus_${hash('sha1', text, 'hex').slice(0, 20)}` };
    preparedByText.set(text, prepared);
  }
  return prepared;
}
