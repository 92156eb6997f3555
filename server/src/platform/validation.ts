// Validates bodies strictly, and paths and queries with coercion of text to numbers and lists. Violations become
// `details.issues`. The only file that knows Ajv.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { type Issue, invalid } from '../kernel/error.ts';
import { isUuid } from '../kernel/id.ts';
import type { TObject } from '../kernel/schema.ts';
import { buildAliases, foldCasing } from '../kernel/text/casing.ts';
import { findUnstorable } from '../kernel/text/text.ts';
import { parseTimestamp } from '../kernel/text/timestamp.ts';

const passwordBytesMax = 256;

function createAjv(coerceTypes: false | 'array'): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    useDefaults: true,
    allErrors: true,
    strict: false,
    unicodeRegExp: true,
    // Adds the schema to each error, for its examples.
    verbose: true,
  });
  addFormats.default(ajv, ['email', 'date']);
  // ajv-formats also accepts `urn:uuid:…`, which PostgreSQL does not.
  ajv.addFormat('uuid', isUuid);
  ajv.addFormat('password', (text: string) => Buffer.byteLength(text) <= passwordBytesMax);
  ajv.addFormat('date-or-time', (text: string) => parseTimestamp(text) !== null);
  return ajv;
}

const strict = createAjv(false);
const coercing = createAjv('array');

export type Validator = (fields: Record<string, unknown>) => void;

/** Accepts both casings, refuses text that PostgreSQL cannot store, and validates. Changes `fields` in place. */
export function bodyValidator(schema: TObject): Validator {
  return validator(strict, schema, 422, refuseLongLists(schema));
}

export function parameterValidator(schema: TObject): Validator {
  return validator(coercing, schema, 400, refuseOddNumbers(schema));
}

/** Before Ajv, which would report an issue for every single item. */
function refuseLongLists({ properties }: TObject): Validator {
  const bounds = Object.entries(properties as Record<string, { maxItems?: number }>).flatMap(
    ([name, { maxItems }]) => (maxItems === undefined ? [] : [[name, maxItems] as const]),
  );
  return (fields) => {
    for (const [path, maxItems] of bounds) {
      const list = fields[path];
      if (Array.isArray(list) && list.length > maxItems)
        throw invalid(422, [
          { path, message: `must NOT have more than ${maxItems} items`, code: 'maxItems' },
        ]);
    }
  };
}

/** Ajv would also coerce 0x10, 1e1 and blanks. */
function refuseOddNumbers({ properties }: TObject): Validator {
  const names = Object.entries(properties as Record<string, { type?: unknown }>)
    .filter(([, { type }]) => type === 'integer')
    .map(([name]) => name);
  return (fields) => {
    for (const path of names) {
      const given = fields[path];
      if (typeof given === 'string' && !/^-?\d{1,15}$/.test(given))
        throw invalid(400, [{ path, message: 'must be a whole number', code: 'type' }]);
    }
  };
}

const issuesMax = 50;

/** Compiles the schema when it is first needed: all of them together would take a sixth of the start. */
function validator(ajv: Ajv, schema: TObject, status: 400 | 422, refuse: Validator): Validator {
  let validate: ValidateFunction | undefined;
  const names = Object.keys(schema.properties);
  const aliases = buildAliases(names);
  const ids = names.filter((name) => isUuidField(schema.properties[name]));
  const others = names.filter((name) => !ids.includes(name));
  return (fields) => {
    const doubled = foldCasing(fields, aliases);
    if (doubled)
      throw invalid(status, [
        {
          path: doubled,
          message: 'is given in camelCase and in snake_case with different values: send one of them',
          code: 'casing',
        },
      ]);
    refuse(fields);
    for (const name of others) {
      const unstorable = findUnstorable(fields[name], name);
      if (unstorable) throw invalid(status, [unstorable]);
    }
    validate ??= ajv.compile(schema);
    if (!validate(fields)) throw invalid(status, (validate.errors ?? []).slice(0, issuesMax).map(toIssue));
    // In the canonical form, so that ids in the audit log can be compared.
    for (const name of ids) {
      const id = fields[name];
      if (typeof id === 'string') fields[name] = id.toLowerCase();
    }
  };
}

/** A UUID can always be stored, so that it needs no check for unstorable text. */
const isUuidField = (field: unknown): boolean => (field as { format?: unknown }).format === 'uuid';

function toIssue(error: ErrorObject): Issue {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'required') {
    const missing = String(error.params.missingProperty);
    return { path: path ? `${path}.${missing}` : missing, message: 'is required', code: 'required' };
  }
  return { path, message: toMessage(error), code: error.keyword };
}

const formatMessages: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  email: 'must be an e-mail address',
  password: `must have at most ${passwordBytesMax} bytes`,
  date: 'must be a date such as 2026-01-31',
  'date-or-time':
    'must be a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z (encode + as %2B in a query)',
};

/** For formats and patterns, says what is expected instead of which rule failed. */
function toMessage({ keyword, message = 'is not valid', params, parentSchema }: ErrorObject): string {
  if (keyword === 'format') return formatMessages[String(params.format)] ?? message;
  const examples = (parentSchema?.examples as unknown[] | undefined) ?? [];
  if (keyword === 'pattern' && examples.length > 0)
    return `has the wrong format: send something like ${examples.map((one) => JSON.stringify(one)).join(' or ')}`;
  const choices: unknown = params.allowedValue ?? params.allowedValues;
  return choices === undefined ? message : `${message}: ${JSON.stringify(choices)}`;
}
