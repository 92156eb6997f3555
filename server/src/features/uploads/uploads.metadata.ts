// What a client says about the file in headers: the Upload-Metadata of tus, or Content-Type and Content-Disposition.
import { Type } from '../../kernel/schema.ts';
import type { FormFields } from '../../platform/forms/form-reader.ts';
import { bodyValidator } from '../../platform/validation.ts';
import { gatherFields, mergeValues, noValues } from '../files/files.meta.ts';
import type { UploadInput } from '../files/files.upload.ts';
import { uploadFields } from '../files/files.wire.ts';
import type { UploadWishes } from './uploads.create.ts';
import { badHeader } from './uploads.headers.ts';

const fieldNames = Object.keys(uploadFields);
const validate = bodyValidator(Type.Object(uploadFields));

/** Pairs of a name and its value in base64, separated by commas. A value may be missing, which means that it is empty. */
export function parseMetadata(header: string | undefined): FormFields {
  const fields = new Map<string, string[]>();
  for (const pair of (header ?? '').split(',')) {
    const [name = '', encoded = '', ...rest] = pair.trim().split(' ');
    if (name === '' && encoded === '') continue;
    if (rest.length > 0 || !/^[\x21-\x7e]+$/.test(name) || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded))
      throw badHeader('upload-metadata', 'must be names and base64 values: name dmFsdWU=, other b3RoZXI=');
    if (fields.has(name)) throw badHeader('upload-metadata', `names ${name} twice`, 'repeated');
    fields.set(name, [decode(name, encoded)]);
  }
  return fields;
}

function decode(name: string, encoded: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    throw badHeader('upload-metadata', `has a value for ${name} that is not UTF-8`, 'encoding');
  }
}

/** Names that it does not know are ignored, as in a form. */
export function toWishes(fields: FormFields, size: number | null): UploadWishes {
  const input = gatherFields(fields, fieldNames);
  validate(input);
  const { space_id, sha256, ...meta } = input as UploadInput;
  return {
    mode: 'resumable',
    name: firstOf(fields, 'filename', 'name'),
    mimeType: firstOf(fields, 'filetype', 'type'),
    size,
    spaceId: space_id ?? null,
    sha256,
    values: mergeValues(noValues, meta),
  };
}

const firstOf = (fields: FormFields, ...names: readonly string[]): string | undefined =>
  names.map((name) => fields.get(name)?.[0]).find((value) => value !== undefined && value !== '');
