// Builds JSON Schemas, with the types that TypeBox gives them. Its own builders do the same, but loading them would take a
// fifth of the time of a start.
import type { TObject, TProperties, TSchema, Type as TypeBox } from 'typebox';

export type { Static, TObject, TProperties, TSchema } from 'typebox';

type Options = Readonly<Record<string, unknown>>;

/** Not a property of the schema, which is published as it is. */
const optional = new WeakSet<TSchema>();

const toOptional = (schema: TSchema): TSchema => {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
};

const toObject = (properties: TProperties, options?: Options): TSchema => {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as TSchema));
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
};

/** Takes the properties only, as TypeBox does, and not the options. */
const toPartial = ({ properties }: TObject, options?: Options): TSchema => {
  const names = Object.entries(properties).map(([name, schema]) => [name, toOptional(schema)]);
  return toObject(Object.fromEntries(names), options);
};

const builders = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: toObject,
  Optional: toOptional,
  Partial: toPartial,
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unsafe: (schema: TSchema) => schema,
};

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
