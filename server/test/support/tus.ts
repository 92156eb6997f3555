// A tus client in which the test controls every request.
import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';

export const tusVersion = { 'tus-resumable': '1.0.0' };

export const metadataOf = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',');

export interface TusCreation {
  /** Null: deferred. */
  readonly size: number | null;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Sent with the creation. */
  readonly body?: Buffer;
  readonly headers?: Record<string, string>;
}

export const createTus = (
  api: Api,
  as: string | undefined,
  userId: string,
  creation: TusCreation,
): Promise<Reply> => {
  const { size, metadata = { filename: 'a.bin' }, body, headers } = creation;
  return api.call('POST', `/project/users/${userId}/uploads`, {
    as,
    headers: {
      ...tusVersion,
      ...(size === null ? { 'upload-defer-length': '1' } : { 'upload-length': String(size) }),
      'upload-metadata': metadataOf(metadata),
      ...(body ? { 'content-type': 'application/offset+octet-stream' } : {}),
      ...headers,
    },
    ...(body ? { raw: body } : {}),
  });
};

/** The path of the upload below the API's base URL. */
export async function startTus(api: Api, as: string, userId: string, creation: TusCreation): Promise<string> {
  const reply = await createTus(api, as, userId, creation);
  expect(reply.status, reply.text).toBe(201);
  return pathOf(reply);
}

export const pathOf = (reply: Reply): string => {
  const [, path = ''] = /\/api\/v1(\/uploads\/[\w-]{43})$/.exec(String(reply.headers.location)) ?? [];
  expect(path, String(reply.headers.location)).not.toBe('');
  return path;
};

export const patchTus = (
  api: Api,
  path: string,
  at: number,
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<Reply> =>
  api.call('PATCH', path, {
    headers: {
      ...tusVersion,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(at),
      ...headers,
    },
    raw: body,
  });

export const headTus = (api: Api, path: string): Promise<Reply> =>
  api.call('HEAD', path, { headers: tusVersion });

export const offsetOf = (reply: Reply): number => Number(reply.headers['upload-offset']);
