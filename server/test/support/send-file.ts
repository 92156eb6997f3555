// Uploads for tests that are not about uploading.
import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';
import { contentTypeOf, formOf, partsOf } from './uploads.ts';

export interface SentFile {
  readonly bytes?: Buffer;
  readonly type?: string;
  /** Further fields: folder, classifier, visibility, space_id … */
  readonly fields?: Readonly<Record<string, string>>;
  /** `image` uploads it for compression. */
  readonly as?: 'file' | 'image';
}

export function trySendFile(api: Api, key: string, userId: string, sent: SentFile = {}): Promise<Reply> {
  const { bytes = Buffer.from('hello'), type = 'text/plain', fields = {}, as = 'file' } = sent;
  return api.call('POST', `/project/users/${userId}/${as}s`, {
    as: key,
    raw: formOf(partsOf(bytes, { name: 'a.txt', type, fields, fileField: as })),
    headers: { 'content-type': contentTypeOf() },
  });
}

/** Resolves to the id of the file. */
export async function sendFile(api: Api, key: string, userId: string, sent: SentFile = {}): Promise<string> {
  const reply = await trySendFile(api, key, userId, sent);
  expect([201, 202], reply.text).toContain(reply.status);
  return reply.body.file?.id ?? reply.body.file_id;
}
