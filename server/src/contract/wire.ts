// Pieces of HTTP shapes that several features share.
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { pageMax } from '../platform/db/paging.ts';

const exampleId = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';

export const Uuid = Type.String({ format: 'uuid', examples: [exampleId] });
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] });
export const Bytes = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1_048_576] });
export const Count = (description: string) => Type.Integer({ minimum: 0, description, examples: [3] });

/** As a list of types rather than a union: serializers branch on it without trying each alternative. */
export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema> | null>({
    ...schema,
    type: [(schema as { type?: string }).type ?? 'object', 'null'],
  });

/** An object that has a name in the OpenAPI document, and so a type of that name in a generated client. */
export const Named = <Properties extends TProperties>(name: string, properties: Properties) =>
  Type.Object(properties, { 'x-name': name });

/** One of a few words. */
export const Choice = <const Word extends string>(
  words: readonly Word[],
  options: { description?: string; 'x-name'?: string } = {},
) => Type.Unsafe<Word>({ type: 'string', enum: [...words], ...options });

/** Control characters, for a class of them: written out, because not every reader of the document knows `\p{Cc}`. */
export const controls = '\\u0000-\\u001f\\u007f-\\u009f';

/** What a person types to name a thing: no control characters, not blank. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 255,
  // Read in one go: whatever is refused has been looked at once.
  pattern: `^(?!\\s*$)[^${controls}]+$`,
  examples: ['Harbour office'],
});

export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  // In a path, clients would take . and .. for steps of their own.
  pattern: `^(?!\\.{1,2}$)[^${controls}]+$`,
  description: 'The id that the integrator uses for it.',
  examples: ['customer-42'],
});

export const Email = Type.String({ format: 'email', maxLength: 254, examples: ['owner@example.com'] });

/** The limit is in bytes because argon2 reads all of them; characters are counted by JSON Schema. */
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
  description: 'Shown this once; only its hash is kept.',
  examples: [`pak_${'0123456789abcdef'.repeat(4)}`],
});

export const RateLimitMax = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Requests in a window. Where it is not set, the number of the next level counts.',
  examples: [100],
});
export const RateLimitWindow = Type.Integer({
  minimum: 1000,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Length of the window in milliseconds. Where it is not set, that of the next level counts.',
  examples: [60_000],
});

export const Ok = Type.Object({ ok: Type.Literal(true) });

export const pageQuery = (defaultLimit: number) => ({
  limit: Type.Integer({
    minimum: 1,
    maximum: pageMax,
    default: defaultLimit,
    description: 'Rows on a page.',
  }),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'next_cursor of the page before.',
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
