// Uploads for tests that are not about uploading.
import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';

export interface SentFile {
  readonly bytes?: Buffer;
  readonly type?: string;
  /** Beside the file: folder, classifier, visibility, space_id … */
  readonly fields?: Readonly<Record<string, string>>;
  /** `image` sends it to be compressed. */
  readonly as?: 'file' | 'image';
}

export async function trySendFile(
  api: Api,
  key: string,
  userId: string,
  sent: SentFile = {},
): Promise<Reply> {
  const { bytes = Buffer.from('hello'), type = 'text/plain', fields = {}, as = 'file' } = sent;
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(as, new Blob([new Uint8Array(bytes)], { type }), 'a.txt');
  const encoded = new Response(form);
  return api.call('POST', `/project/users/${userId}/${as}s`, {
    as: key,
    raw: Buffer.from(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
  });
}

/** Resolves to the id of the file. */
export async function sendFile(api: Api, key: string, userId: string, sent: SentFile = {}): Promise<string> {
  const reply = await trySendFile(api, key, userId, sent);
  expect([201, 202], reply.text).toContain(reply.status);
  return reply.body.file?.id ?? reply.body.file_id;
}
