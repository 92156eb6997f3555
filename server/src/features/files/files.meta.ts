// Parses the metadata of an upload form: one `meta` part with JSON, single fields, or both.

import type { FileValues } from '../../contract/file.ts';
import { isoOf } from '../../kernel/clock.ts';
import { type Issue, invalid } from '../../kernel/error.ts';
import { findSpellings } from '../../kernel/text/casing.ts';
import { parseFolder } from '../../kernel/text/folder.ts';
import { parseForeignJson } from '../../kernel/text/json.ts';
import { parseTimestamp } from '../../kernel/text/timestamp.ts';
import type { FormFields } from '../../platform/forms/form-reader.ts';
import type { FileMetaInput } from './files.wire.ts';

export const noValues: FileValues = {
  folder: '',
  tags: [],
  classifier: null,
  metadata: {},
  visibility: 'private',
  expires_at: null,
  retain_until: null,
};

const metadataBytesMax = 16 * 1024;

/** Accepts every spelling of a field, such as `space_id` and `spaceId`. */
export const isFieldName = (part: string, names: readonly string[]): boolean =>
  part === 'meta' || names.some((name) => findSpellings(name).includes(part));

/** The form's fields as one object, not validated yet. A single field overrides the same one in `meta`. */
export function gatherFields(
  form: FormFields,
  names: readonly string[],
  numbers: readonly string[] = [],
): Record<string, unknown> {
  const gathered: Record<string, unknown> = readMeta(form);
  for (const name of names) {
    // Keep every spelling that was sent, so that validation can report conflicting values.
    const spellings = findSpellings(name);
    const given = spellings.filter((spelling) => form.has(spelling));
    if (given.length > 0) for (const spelling of spellings) delete gathered[spelling];
    for (const spelling of given)
      gathered[spelling] = readField(name, form.get(spelling) ?? [], numbers.includes(name));
  }
  return gathered;
}

/** Empty form fields that count as absent. */
const mayBeEmpty: ReadonlySet<string> = new Set(['space_id', 'sha256', 'expires_at', 'retain_until']);

function readField(name: string, values: readonly string[], isNumber: boolean): unknown {
  if (name === 'tags') return readList(values);
  const last = values.at(-1) ?? '';
  if (name === 'metadata') return readJson(name, last);
  if (mayBeEmpty.has(name) && last === '') return undefined;
  return isNumber ? readNumber(last) : last;
}

/** Form values are text. Anything that is not a number stays text, so that validation reports it. */
const readNumber = (text: string): unknown => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text);

function readMeta(form: FormFields): Record<string, unknown> {
  const text = form.get('meta')?.at(-1);
  if (text === undefined || text.trim() === '') return {};
  const meta = readJson('meta', text);
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta))
    throw fault('meta', 'must be a JSON object', 'type');
  return { ...meta };
}

function readJson(path: string, text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch (error) {
    throw fault(path, `is not valid JSON: ${(error as Error).message.slice(0, 120)}`, 'json');
  }
}

/** `["a","b"]`, `a,b`, or the field repeated. */
const readList = (values: readonly string[]): unknown[] =>
  values.flatMap((value) => (value.trim().startsWith('[') ? readJson('tags', value) : splitTags(value)));

const splitTags = (text: string): string[] => trimTags(text.split(','));

/** Text that starts like a JSON array but is not one is read as plain tags: a tag may start with a bracket. */
export function parseTagFilter(text: string): string[] {
  if (!text.trim().startsWith('[')) return splitTags(text);
  try {
    const list: unknown = parseForeignJson(text);
    if (Array.isArray(list) && list.every((tag) => typeof tag === 'string')) return trimTags(list);
  } catch {
    // Not JSON: plain tags.
  }
  return splitTags(text);
}

/** Stored tags and filters are trimmed alike, so that they match. */
const trimTags = (tags: readonly string[]): string[] => tags.map((tag) => tag.trim()).filter(Boolean);

/** Absent fields keep their value; null clears. */
export function mergeValues(before: FileValues, input: FileMetaInput): FileValues {
  return {
    folder: input.folder === undefined ? before.folder : validateFolder(input.folder ?? ''),
    tags: input.tags === undefined ? before.tags : [...new Set(trimTags(input.tags ?? []))],
    classifier: input.classifier === undefined ? before.classifier : input.classifier,
    metadata: input.metadata === undefined ? before.metadata : validateMetadata(input.metadata ?? {}),
    visibility: input.visibility ?? before.visibility,
    expires_at: mergeTime(before.expires_at, input.expires_at),
    retain_until: mergeTime(before.retain_until, input.retain_until),
  };
}

/** In UTC, as the API shows it. */
function mergeTime(before: string | null, given: string | null | undefined): string | null {
  if (given === undefined) return before;
  return given === null ? null : isoOf(parseTimestamp(given) ?? Number.NaN);
}

export function validateFolder(given: string, status: 400 | 422 = 422, path = 'folder'): string {
  const read = parseFolder(given);
  if ('fault' in read) throw invalid(status, [{ path, message: read.fault, code: 'folder' }]);
  return read.folder;
}

function validateMetadata(metadata: object): Record<string, unknown> {
  const text = JSON.stringify(metadata);
  if (text.length > metadataBytesMax || Buffer.byteLength(text) + countExponentZeros(text) > metadataBytesMax)
    throw fault(
      'metadata',
      'must be at most 16 KiB of JSON, with numbers written out without an exponent',
      'maxLength',
    );
  return { ...metadata };
}

const textOrExponent = /"(?:[^"\\]|\\.)*"|e[+-](\d+)/g;

/**
 * How much longer the JSON gets without exponents. PostgreSQL writes numbers out: 16 KiB of nothing but 1e308 would grow
 * to 700 KB in every list, and a page of such files to 70 MB.
 */
function countExponentZeros(json: string): number {
  let zeros = 0;
  for (const [, exponent = '0'] of json.matchAll(textOrExponent)) zeros += Number(exponent);
  return zeros;
}

const fault = (path: string, message: string, code: Issue['code']) => invalid(422, [{ path, message, code }]);
