// The feed of events, seen through a proxy that fails on purpose.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../server/test/support/fault-proxy.ts';
import { type Client, createClient, type FeedEvent } from '../src/index.ts';
import { serve } from './support/served.ts';

const served = serve();
let proxy: FaultProxy;
let client: Client;

beforeAll(async () => {
  proxy = await startFaultProxy(served.baseUrl);
  client = createClient({ baseUrl: proxy.url, key: served.key, retries: 1 });
});
beforeEach(() => proxy.set());
afterAll(() => proxy?.close());

/** The cursor of this moment. */
const now = async () => (await client.project.events().page()).next_cursor;

const idsOf = (events: readonly FeedEvent[]) =>
  events.map(({ data }) => ('external_id' in data ? data.external_id : null));

async function take(count: number, events: AsyncIterable<FeedEvent>): Promise<FeedEvent[]> {
  const taken: FeedEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

test('an event arrives while the loop waits, with what the read of its resource shows', async () => {
  let isReading = false;
  const onCursor = () => {
    isReading = true;
  };
  const following = take(1, client.project.events({ types: ['user.*'], onCursor }));
  await expect.poll(() => isReading).toBe(true);
  await client.user('anna').files.upload('not a user');
  const user = await client.users.create({ externalId: 'waited for' });
  const [event] = await following;
  expect(event).toMatchObject({ type: 'user.created', user_id: user.id, data: user });
});

test('a loop that begins with the saved cursor sees again only what it was not done with', async () => {
  const cursor = await now();
  const externalIds = ['one', 'two', 'three', 'four', 'five'];
  for (const externalId of externalIds) await client.users.create({ externalId });
  // An event shows up only after all that began before it, so the first page could be a short one.
  await expect
    .poll(async () => idsOf((await client.project.events({ cursor }).page()).events))
    .toEqual(externalIds);
  let saved = cursor;
  const onCursor = async (next: string) => {
    saved = next;
  };
  const first = await take(3, client.project.events({ cursor, limit: 2, onCursor }));
  expect(idsOf(first)).toEqual(['one', 'two', 'three']);
  const rest = await take(3, client.project.events({ cursor: saved, limit: 2, onCursor }));
  expect(idsOf(rest)).toEqual(['three', 'four', 'five']);
});

test('pages have a cursor each, and from=oldest begins with what is kept', async () => {
  const cursor = await now();
  await client.users.create({ externalId: 'paged' });
  for await (const page of client.project.events({ cursor }).pages()) {
    expect(idsOf(page.events)).toEqual(['paged']);
    expect(await client.project.events({ cursor: page.next_cursor }).page()).toMatchObject({ events: [] });
    break;
  }
  const [oldest] = await take(1, client.project.events({ from: 'oldest' }));
  expect(oldest?.type).toBeTypeOf('string');
});

test('an outage ends no loop, however many requests fail, and each failure is told', async () => {
  let requests = 0;
  const counting: typeof fetch = (input, init) => {
    requests += 1;
    return fetch(input, init);
  };
  const counted = createClient({ baseUrl: proxy.url, key: served.key, retries: 1, fetch: counting });
  const ended = new AbortController();
  const seen: FeedEvent[] = [];
  const failures: unknown[] = [];
  const onRetry = (error: unknown) => failures.push(error);
  const follow = async () => {
    for await (const event of counted.project.events({ signal: ended.signal, onRetry })) seen.push(event);
  };
  const following = follow();
  // The second one waits for events.
  await expect.poll(() => requests).toBe(2);
  await proxy.refuse();
  await served.client.users.create({ externalId: 'meanwhile' });
  await expect.poll(() => requests).toBe(5);
  await proxy.accept();
  await served.client.users.create({ externalId: 'afterwards' });
  await expect.poll(() => idsOf(seen)).toEqual(['meanwhile', 'afterwards']);
  expect(failures.length).toBeGreaterThanOrEqual(3);
  for (const failure of failures) expect(failure).toMatchObject({ code: 'NETWORK_ERROR' });
  ended.abort(new Error('enough'));
  await expect(following).rejects.toThrow('enough');
});

test('a mistake shows at once: an address, a cursor, a type, a credential', async () => {
  const nobody = createClient({ baseUrl: 'http://127.0.0.1:9', retries: 0 });
  await expect(take(1, nobody.project.events())).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
  const garbled = client.project.events({ cursor: 'garbled' });
  await expect(take(1, garbled)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', status: 400 });
  const unknown = client.project.events({ types: ['nothing.*' as 'file.*'] });
  await expect(unknown.page()).rejects.toMatchObject({ code: 'VALIDATION_ERROR', status: 400 });
  const { token } = await client.user('anna').tokens.mint();
  const ofUser = createClient({ baseUrl: served.baseUrl, token });
  await expect(ofUser.project.events().stream()).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

test('the type of an event tells what it is about', async () => {
  const cursor = await now();
  await client.user('anna').files.upload('typed', { name: 'typed.txt' });
  const { events } = await client.project.events({ cursor, types: ['file.created'] }).page();
  // Checked by the compiler.
  const sizes = events.map((event) => (event.type === 'file.created' ? event.data.size : event.type));
  expect(sizes).toEqual([5]);
});
