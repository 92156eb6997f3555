// Field names in both spellings: callers may write externalId or external_id.

export const toSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const toCamelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const knownSpellings = new Map<string, readonly string[]>();

/** All spellings of a name, memoized. */
export function findSpellings(name: string): readonly string[] {
  let spellings = knownSpellings.get(name);
  if (!spellings) {
    spellings = [...new Set([name, toSnakeCase(name), toCamelCase(name)])];
    knownSpellings.set(name, spellings);
  }
  return spellings;
}

/** Maps every other spelling to the name in the schema. */
export function buildAliases(names: readonly string[]): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  for (const name of names) {
    for (const other of findSpellings(name)) if (other !== name) aliases.set(other, name);
  }
  return aliases;
}

/**
 * Renames aliased fields in place. Returns the name of a field that was sent in both spellings with different values.
 */
export function foldCasing(
  fields: Record<string, unknown>,
  aliases: ReadonlyMap<string, string>,
): string | null {
  for (const [alias, name] of aliases) {
    if (!Object.hasOwn(fields, alias)) continue;
    if (Object.hasOwn(fields, name) && JSON.stringify(fields[name]) !== JSON.stringify(fields[alias]))
      return name;
    fields[name] = fields[alias];
    delete fields[alias];
  }
  return null;
}
