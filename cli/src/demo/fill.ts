// Fills an empty service through its HTTP API.
import { randomBytes } from 'node:crypto';
import { CommandError } from '../frame/failure.ts';
import { type DemoFile, files, plans, spaces, users } from './content.ts';

const requestsAtOnce = 6;

export interface Account {
  readonly email: string;
  readonly password: string;
}

/** What somebody needs to look around. */
export interface Filled {
  readonly owner: Account;
  readonly key: string;
  readonly spaces: readonly { readonly externalId: string; readonly password: string }[];
  readonly files: number;
}

export const makePassword = (): string => randomBytes(12).toString('base64url');

type Send = <Reply>(method: string, path: string, body: object) => Promise<Reply>;

export async function fill(
  baseUrl: string,
  admin: Account,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<Filled> {
  const anonymous = sender(baseUrl, null, signal);
  const { token } = await anonymous<{ token: string }>('POST', '/auth/login', admin);
  // A name of its own, because an earlier attempt may have been interrupted.
  const owner = { email: `owner-${randomBytes(3).toString('hex')}@demo.example`, password: makePassword() };
  const { api_key: key } = await sender(baseUrl, token, signal)<{ api_key: string }>(
    'POST',
    '/admin/projects',
    {
      name: 'Harbour',
      ...owner,
    },
  );
  const send = sender(baseUrl, key, signal);
  await addPeople(send);
  const opened = await addSpaces(send);
  let sent = 0;
  await inParallel(files, async (file) => {
    await upload(send, file);
    sent += 1;
    onProgress(`${sent} of ${files.length} files`);
  });
  return { owner, key, spaces: opened, files: files.length };
}

async function addPeople(send: Send): Promise<void> {
  const planIds = new Map<string, string>();
  for (const plan of plans) {
    const reply = await send<{ plan: { id: string } }>('POST', '/project/plans', plan);
    planIds.set(plan.name, reply.plan.id);
  }
  await inParallel(users, ({ externalId, plan }) =>
    send('POST', '/project/users', { externalId, planId: planIds.get(plan) }),
  );
}

async function addSpaces(send: Send): Promise<Filled['spaces']> {
  const opened = spaces.map(({ externalId }) => ({ externalId, password: makePassword() }));
  await inParallel(spaces, ({ user, externalId, name, limitBytes }) =>
    send('POST', `/project/users/ext/${user}/spaces`, {
      externalId,
      name,
      limitBytes,
      scopes: ['files:read', 'files:write'],
      password: opened.find((space) => space.externalId === externalId)?.password,
    }),
  );
  return opened;
}

async function upload(send: Send, { user, folder, name, type, tags, content }: DemoFile): Promise<void> {
  const form = new FormData();
  form.set('folder', folder);
  for (const tag of tags) form.append('tags', tag);
  form.set('file', new Blob([new Uint8Array(content())], { type }), name);
  await send('POST', `/project/users/ext/${user}/files`, form);
}

const sender =
  (baseUrl: string, credential: string | null, signal: AbortSignal): Send =>
  async <Reply>(method: string, path: string, body: object) => {
    const isForm = body instanceof FormData;
    const reply = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
      signal,
    });
    const answer = (await reply.json()) as Reply & { error?: { message?: string } };
    if (!reply.ok)
      throw new CommandError(
        'failed',
        `${method} ${path} was answered with ${reply.status}: ${answer.error?.message}`,
      );
    return answer;
  };

/** A few at once. The first failure ends the others before their next item. */
async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  let isOver = false;
  const lane = async () => {
    for (const item of rest) {
      if (isOver) return;
      await work(item);
    }
  };
  try {
    await Promise.all(Array.from({ length: requestsAtOnce }, lane));
  } finally {
    isOver = true;
  }
}
