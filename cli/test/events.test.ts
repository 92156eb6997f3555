// pakhus events and webhooks: what they print, where they go on, and what a receiver gets.
import type { ChildProcess } from 'node:child_process';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook, type WebhookEvent } from '@pakhus/client/webhooks';
import { afterEach, expect, test } from 'vitest';
import { startTcpProxy } from '../../server/test/support/tcp-proxy.ts';
import { type Outcome, outcomeOf, startCommand } from './support/command.ts';
import { useService } from './support/service.ts';

const service = useService({ WEBHOOK_ALLOW_PRIVATE: 'true' });

interface Following {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  out(): string;
  err(): string;
  /** Interrupts it. */
  end(): Promise<Outcome>;
}

/** As a process, like a person would leave it running. */
function follow(words: string, env: Record<string, string> = {}): Following {
  const child = startCommand(words, { env: { ...service.env, ...env } });
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  const outcome = outcomeOf(child);
  return {
    child,
    out: () => out,
    err: () => err,
    end: () => {
      child.kill('SIGINT');
      return outcome;
    },
  };
}

const linesOf = (out: string) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Everything since the cursor, or only a new cursor. */
async function readOnce(words = ''): Promise<{ events: WebhookEvent[]; cursor: string }> {
  const { code, out, err } = await service.run(`events --once --json ${words}`);
  expect([code, err]).toEqual([0, '']);
  const lines = linesOf(out);
  return { events: lines.slice(0, -1), cursor: lines.at(-1).next_cursor };
}

const create = (externalId: string) => service.client.users.create({ externalId });
const namesOf = (events: readonly WebhookEvent[]) =>
  events.map(({ data }) => (data as { external_id?: string }).external_id);

test('events --once prints what is there, and the cursor of the next run', async () => {
  const start = await readOnce();
  expect(start.events).toEqual([]);
  await create('first');
  await create('second');
  const { events, cursor } = await readOnce(`--cursor=${start.cursor}`);
  expect(namesOf(events)).toEqual(['first', 'second']);
  await service.client.user('anna').files.upload('12345', { name: 'five.txt', folder: 'docs' });
  expect((await readOnce(`--cursor=${cursor} --types user.*`)).events).toEqual([]);
  const { out, err } = await service.run(`events --once --cursor=${cursor} --types file.*,image.done`);
  expect(out).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d {2}file\.created {4} id:[0-9a-f-]{36}:docs\/five\.txt {2}5 B\n$/,
  );
  expect(err).toContain('pakhus events --cursor=');
  expect((await readOnce('--from oldest --types user.created')).events.length).toBeGreaterThan(1);
});

test('events names a wrong type or cursor', async () => {
  const { code, err } = await service.run('events --types fiel.*');
  expect(code).toBe(1);
  expect(err).toContain('fiel.*');
  expect((await service.run('events --cursor nonsense --once')).code).toBe(1);
  expect((await service.run('events --from yesterday')).code).toBe(2);
});

test('events follows until it is interrupted, and then says where to go on', async () => {
  const { cursor } = await readOnce();
  const following = follow(`events --json --cursor=${cursor}`);
  await create('seen at once');
  await expect.poll(following.out).toContain('seen at once');
  await create('seen later');
  await expect.poll(following.out).toContain('seen later');
  const { code, out } = await following.end();
  expect(code).toBe(130);
  await create('not seen');
  const { events } = await readOnce(`--cursor=${linesOf(out).at(-1).next_cursor}`);
  expect(namesOf(events)).toEqual(['not seen']);
});

test('events says when the service is away and when it is back, and misses nothing', async () => {
  const { cursor } = await readOnce();
  const { hostname, port } = new URL(service.env.PAKHUS_URL as string);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  const following = follow(`events --cursor=${cursor}`, { PAKHUS_URL: `http://127.0.0.1:${proxy.port}` });
  await create('before');
  await expect.poll(following.out).toContain('before');
  await proxy.goAway();
  await expect.poll(following.err).toContain('trying until it answers');
  await create('meanwhile');
  await proxy.comeBack();
  await expect.poll(following.out).toContain('meanwhile');
  const { code, out, err } = await following.end();
  expect(code).toBe(130);
  expect(err.match(/trying until it answers|answers again/g)).toEqual([
    'trying until it answers',
    'answers again',
  ]);
  expect(out.match(/before|meanwhile/g)).toEqual(['before', 'meanwhile']);
  await proxy.close();
});

interface Hook {
  readonly url: string;
  readonly got: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

let receiver: Server | undefined;
afterEach(() => receiver?.close());

/** Refuses the first webhooks. */
async function receive(refusals: number, status: number): Promise<Hook> {
  const got: Hook['got'] = [];
  receiver = createServer(async (request, response) => {
    got.push({ headers: request.headers, body: await text(request) });
    response.writeHead(got.length > refusals ? 204 : status).end();
  });
  await new Promise<void>((resolve) => receiver?.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`, got };
}

test('webhooks listen forwards events, signed, and again if they were refused', async () => {
  const { url, got } = await receive(1, 301);
  const listening = follow(`webhooks listen --json --forward ${url} --types user.created`);
  await expect.poll(listening.out).toContain('whsec_');
  const [{ secret }] = linesOf(listening.out());
  await create('forwarded');
  await expect.poll(() => got.length).toBe(2);
  const events = await Promise.all(got.map(({ body, headers }) => verifyWebhook(body, headers, secret)));
  expect(namesOf(events)).toEqual(['forwarded', 'forwarded']);
  expect(got.map(({ headers }) => headers['webhook-id'])).toEqual(events.map(({ id }) => id));
  await expect.poll(() => linesOf(listening.out()).length).toBe(3);
  const { code, out } = await listening.end();
  expect(code).toBe(130);
  const once = await service.run(
    `webhooks listen --forward ${url} --once --types user.created --from oldest`,
  );
  expect(once.code).toBe(0);
  expect(once.out).toMatch(/^Forwarding .*\n(204 .* user\.created .*\n)+$/);
  const [, refused, accepted, end] = linesOf(out);
  expect(refused).toMatchObject({ response_status: 301, error: expect.any(String), next_try_ms: 1000 });
  expect(accepted).toMatchObject({ event_id: events[0]?.id, response_status: 204, error: null });
  expect(end.next_cursor).toBeTypeOf('string');
});

test('webhooks listen takes a secret, keeps its own for a key, and says what is wrong', async () => {
  const secretOf = async (words: string) => {
    const listening = follow(`webhooks listen --forward http://127.0.0.1:9 ${words}`);
    await expect.poll(listening.out).toContain('signed with');
    await listening.end();
    return listening.out().trim().split(' ').at(-1);
  };
  expect(await secretOf('--secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  );
  const own = await secretOf('');
  expect(own).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(await secretOf('')).toBe(own);
  for (const wrong of ['', '--forward localhost:3001', '--forward http://127.0.0.1:9 --secret no!'])
    expect((await service.run(`webhooks listen ${wrong}`)).code).toBe(2);
});

test('webhooks are created, tested, looked at, replayed, changed and deleted', async () => {
  const { url, got } = await receive(0, 500);
  const json = async (words: string) => {
    const { code, out, err } = await service.run(`webhooks ${words} --json`);
    expect([code, err]).toEqual([0, '']);
    return linesOf(out);
  };
  const { out: secret, err } = await service.run(`webhooks create ${url} --types user.created,file.*`);
  expect(secret).toMatch(/^whsec_\S+\n$/);
  expect(err).toContain('only this once');
  const [{ id, types }] = await json('list');
  expect(types).toEqual(['user.created', 'file.*']);
  await create('hooked');
  await expect.poll(() => json(`deliveries ${id} --status succeeded`)).toHaveLength(1);
  const [delivery] = await json(`deliveries ${id}`);
  expect((await service.run(`webhooks deliveries ${id}`)).out).toMatch(
    / succeeded {2}204 .* user\.created\n$/,
  );
  await json(`replay ${id} ${delivery.id}`);
  expect((await json(`test ${id}`))[0].type).toBe('test');
  await expect.poll(() => got.length).toBeGreaterThanOrEqual(3);
  const first = await verifyWebhook(got[0]?.body ?? '', got[0]?.headers ?? {}, secret.trim());
  expect(namesOf([first])).toEqual(['hooked']);
  const { out: rotated } = await service.run(`webhooks rotate-secret ${id} -q`);
  expect(rotated).not.toBe(secret);
  expect((await json(`update ${id} --types * --active off`))[0]).toMatchObject({
    types: null,
    active: false,
  });
  expect((await service.run('webhooks list')).out).toBe(`${id}  ${url}  all events  inactive\n`);
  await json(`delete ${id}`);
  expect((await service.run(`webhooks delete ${id}`)).code).toBe(3);
  expect((await service.run(`webhooks create ${url} --types nonsense`)).code).toBe(1);
});
