// The metadata of an upload, out of a form: one `meta` part with JSON, single fields, or both.

import type { FileValues } from '../../contract/file.ts';
import { type Issue, invalid } from '../../kernel/error.ts';
import { findSpellings } from '../../kernel/text/casing.ts';
import { parseFolder } from '../../kernel/text/folder.ts';
import { parseForeignJson } from '../../kernel/text/json.ts';
import type { FormFields } from '../../platform/forms/form-reader.ts';
import type { FileMetaInput } from './files.wire.ts';

export const noValues: FileValues = {
  folder: '',
  tags: [],
  classifier: null,
  metadata: {},
  visibility: 'private',
};

const metadataBytesMax = 16 * 1024;

/** Whether a form's part is one of the fields, however it is spelt. */
export const isFieldName = (part: string, names: readonly string[]): boolean =>
  part === 'meta' || names.some((name) => findSpellings(name).includes(part));

/** The form's fields as one object, before validation. A field by itself wins over the same one in `meta`. */
export function gatherFields(
  form: FormFields,
  names: readonly string[],
  numbers: readonly string[] = [],
): Record<string, unknown> {
  const gathered: Record<string, unknown> = readMeta(form);
  for (const name of names) {
    // Every spelling that is there, so that validation can tell when they say different things.
    const spellings = findSpellings(name);
    const given = spellings.filter((spelling) => form.has(spelling));
    if (given.length > 0) for (const spelling of spellings) delete gathered[spelling];
    for (const spelling of given)
      gathered[spelling] = readField(name, form.get(spelling) ?? [], numbers.includes(name));
  }
  return gathered;
}

/** What a form may leave empty to say nothing. */
const mayBeEmpty: ReadonlySet<string> = new Set(['space_id', 'sha256']);

function readField(name: string, values: readonly string[], isNumber: boolean): unknown {
  if (name === 'tags') return readList(values);
  const last = values.at(-1) ?? '';
  if (name === 'metadata') return readJson(name, last);
  if (mayBeEmpty.has(name) && last === '') return undefined;
  return isNumber ? readNumber(last) : last;
}

/** A form knows only text. What is no number stays text, and validation says so. */
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

/** Tags as a list in one text. */
const splitTags = (text: string): string[] => trimTags(text.split(','));

/** As a filter names them; what begins like JSON and is none is a tag as well. */
export function parseTagFilter(text: string): string[] {
  if (!text.trim().startsWith('[')) return splitTags(text);
  try {
    const list: unknown = parseForeignJson(text);
    if (Array.isArray(list) && list.every((tag) => typeof tag === 'string')) return trimTags(list);
  } catch {
    // Then it is no JSON.
  }
  return splitTags(text);
}

/** As a filter looks for them. */
const trimTags = (tags: readonly string[]): string[] => tags.map((tag) => tag.trim()).filter(Boolean);

/** The values in force after `input`: what it does not name stays, and null clears. */
export function mergeValues(before: FileValues, input: FileMetaInput): FileValues {
  return {
    folder: input.folder === undefined ? before.folder : requireFolder(input.folder ?? ''),
    tags: input.tags === undefined ? before.tags : [...new Set(trimTags(input.tags ?? []))],
    classifier: input.classifier === undefined ? before.classifier : input.classifier,
    metadata: input.metadata === undefined ? before.metadata : requireMetadata(input.metadata ?? {}),
    visibility: input.visibility ?? before.visibility,
  };
}

export function requireFolder(given: string, status: 400 | 422 = 422, path = 'folder'): string {
  const read = parseFolder(given);
  if ('fault' in read) throw invalid(status, [{ path, message: read.fault, code: 'folder' }]);
  return read.folder;
}

function requireMetadata(metadata: object): Record<string, unknown> {
  const text = JSON.stringify(metadata);
  if (text.length > metadataBytesMax || Buffer.byteLength(text) + countExponentZeros(text) > metadataBytesMax)
    throw fault('metadata', 'must be at most 16 KiB of JSON, numbers written without exponent', 'maxLength');
  return { ...metadata };
}

const textOrExponent = /"(?:[^"\\]|\\.)*"|e[+-](\d+)/g;

/**
 * How much longer JSON is where no number has an exponent. That is how PostgreSQL writes them: a file with nothing
 * but 1e308 in its metadata would take 700 KB in every list, and a page of them 70 MB.
 */
function countExponentZeros(json: string): number {
  let zeros = 0;
  for (const [, exponent = '0'] of json.matchAll(textOrExponent)) zeros += Number(exponent);
  return zeros;
}

const fault = (path: string, message: string, code: Issue['code']) => invalid(422, [{ path, message, code }]);
