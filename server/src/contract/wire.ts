// Parts of HTTP shapes that several features use.
import { type Static, type TProperties, type TSchema, Type } from '../kernel/schema.ts';
import { pageMax } from '../platform/db/paging.ts';

const exampleId = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';

export const Uuid = Type.String({ format: 'uuid', examples: [exampleId] });
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] });

/** As callers send it: `parseTimestamp` reads it. */
export const DateOrTime = (description: string, example: string | null = '2026-01-31T12:00:00Z') =>
  Type.String({
    format: 'date-or-time',
    'x-shown': {
      format: undefined,
      pattern:
        '^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?$',
    },
    description: `${description} A date, or a date and time; UTC unless it has an offset.`,
    examples: [example],
  });
export const Bytes = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1_048_576] });
export const Count = (description: string) => Type.Integer({ minimum: 0, description, examples: [3] });

/** A list of types rather than a union, which code generators handle better. */
export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema> | null>({
    ...schema,
    type: [(schema as { type?: string }).type ?? 'object', 'null'],
  });

/** An object with a name in the OpenAPI document, and so in generated clients. */
export const Named = <Properties extends TProperties>(name: string, properties: Properties) =>
  Type.Object(properties, { 'x-name': name });

/** One of a few words. */
export const Choice = <const Word extends string>(
  words: readonly Word[],
  options: { description?: string; 'x-name'?: string } = {},
) => Type.Unsafe<Word>({ type: 'string', enum: [...words], ...options });

/** Control characters, for use in a class; spelled out because not every tool supports `\p{Cc}`. */
export const controls = '\\u0000-\\u001f\\u007f-\\u009f';

/** A name that a person types: not blank, no control characters. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 255,
  // No backtracking: each character is read once.
  pattern: `^(?!\\s*$)[^${controls}]+$`,
  examples: ['Harbour office'],
});

export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  // Clients resolve . and .. in a path.
  pattern: `^(?!\\.{1,2}$)[^${controls}]+$`,
  description: 'Your own id for it.',
  examples: ['customer-42'],
});

export const Email = Type.String({ format: 'email', maxLength: 254, examples: ['owner@example.com'] });

/** JSON Schema counts characters; the `password` format bounds bytes, all of which argon2 reads. */
export const Password = (minLength: number) =>
  Type.String({
    minLength,
    maxLength: 256,
    format: 'password',
    description: 'At most 256 bytes in UTF-8.',
    examples: ['correct horse battery'],
  });

export const ApiKey = Type.String({
  pattern: '^pak_[0-9a-f]{64}$',
  description: 'Shown only this once: the service keeps a hash.',
  examples: [`pak_${'0123456789abcdef'.repeat(4)}`],
});

export const RateLimitMax = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Requests per window. If not set, the value of the next level applies.',
  examples: [100],
});
export const RateLimitWindow = Type.Integer({
  minimum: 1000,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Length of the window in milliseconds. If not set, the value of the next level applies.',
  examples: [60_000],
});

export const Ok = Type.Object({ ok: Type.Literal(true) });

export const pageQuery = (defaultLimit: number) => ({
  limit: Type.Integer({
    minimum: 1,
    maximum: pageMax,
    default: defaultLimit,
    description: 'Rows per page.',
  }),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: '`next_cursor` of the previous page.',
      examples: ['c29tZS1jdXJzb3I'],
    }),
  ),
});

export const Page = (query: TProperties = {}) => Type.Object({ ...query, ...pageQuery(50) });

/** `{<plural>: [...], next_cursor}` */
export const Listing = <Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({
    ...({ [name]: Type.Array(item) } as { [Key in Name]: ReturnType<typeof Type.Array<Item>> }),
    next_cursor: NextCursor,
  });

export const NextCursor = Nullable(
  Type.String({ description: 'Null on the last page.', examples: ['c29tZS1jdXJzb3I'] }),
);

export const resourceFields = { id: Uuid, created_at: Timestamp, updated_at: Timestamp };
