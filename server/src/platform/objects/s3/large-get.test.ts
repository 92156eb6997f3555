// Against a server that sends exactly the bytes that a test wants, when it wants.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createOpenLarge, type LargeReply } from './large-get.ts';
import { S3BodyToClient } from './s3-body.ts';

const content = Buffer.alloc(3 << 20, 'Pakhus keeps what it is given. ');
const head = `HTTP/1.1 200 OK\r\nETag: "a"\r\nContent-Length: ${content.length}\r\n\r\n`;

const open = createOpenLarge(10_000);
const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Resolves to how the first request to it is answered, and to what that request was. */
async function get(
  answer: (socket: Socket) => void,
  { idleMs = 10_000, signal }: { idleMs?: number; signal?: AbortSignal } = {},
) {
  let request = '';
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('data', (bytes: Buffer) => {
      request = bytes.toString('latin1');
      answer(socket);
    });
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const headers = { range: 'bytes=0-' };
  const reply = await open({ origin: `http://${host}`, path: '/box/key', headers, idleMs, signal });
  return { reply, request, host };
}

const bodyOf = (reply: LargeReply | null): S3BodyToClient => {
  if (!reply) throw new Error('The reply was left to others');
  return new S3BodyToClient(reply);
};

test('one request, and every byte of the answer', async () => {
  const { reply, request, host } = await get((socket) => {
    socket.write(head);
    socket.end(content);
  });
  expect(request).toBe(
    `GET /box/key HTTP/1.1\r\nhost: ${host}\r\nrange: bytes=0-\r\nconnection: close\r\n\r\n`,
  );
  expect(reply).toMatchObject({ status: 200, bytes: content.length, headers: { etag: '"a"' } });
  expect((await buffer(bodyOf(reply))).equals(content)).toBe(true);
});

test('a head and a body that arrive in pieces', async () => {
  const { reply } = await get(async (socket) => {
    socket.setNoDelay(true);
    for (const char of head) {
      socket.write(char);
      await delay(1);
    }
    for (let at = 0; at < content.length; at += 100_003) socket.write(content.subarray(at, at + 100_003));
  });
  expect((await buffer(bodyOf(reply))).equals(content)).toBe(true);
});

test('what comes after the body is not part of it', async () => {
  const { reply } = await get((socket) => {
    socket.write(head);
    socket.write(content);
    socket.end('HTTP/1.1 200 OK\r\n\r\n');
  });
  expect((await buffer(bodyOf(reply))).equals(content)).toBe(true);
});

test('a reply that is not plain bytes is left to others, and its connection ends', async () => {
  let hasEnded = false;
  const { reply } = await get((socket) => {
    socket.once('close', () => {
      hasEnded = true;
    });
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!');
  });
  expect(reply).toBeNull();
  await expect.poll(() => hasEnded).toBe(true);
});

test('a reader that waits longer than the server may be silent', async () => {
  const idleMs = 2_000;
  const answer = (socket: Socket) => {
    socket.write(head);
    socket.end(content);
  };
  const { reply } = await get(answer, { idleMs });
  const body = bodyOf(reply);
  const chunks: Buffer[] = [];
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    if (chunks.length === 1) await delay(1.5 * idleMs);
  }
  expect(Buffer.concat(chunks).equals(content)).toBe(true);
});

test.each([
  ['closes before the head ends', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\n'), 'UND_ERR_SOCKET'],
  ['resets the connection', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
  ['sends no head', () => undefined, 'UND_ERR_HEADERS_TIMEOUT'],
  [
    'sends a head without end',
    (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}`),
    'UND_ERR_HEADERS_OVERFLOW',
  ],
] as const)('fails if the server %s', async (_what, answer, code) => {
  await expect(get(answer, { idleMs: 2_000 })).rejects.toMatchObject({ code });
});

test.each([
  ['ends', (socket: Socket) => socket.end()],
  ['is reset', (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 50)],
  ['falls silent', () => undefined],
] as const)('a body whose connection %s half way is an outage', async (_what, then) => {
  const answer = (socket: Socket) => {
    socket.write(head);
    socket.write(content.subarray(0, 2 << 20), () => then(socket));
  };
  const { reply } = await get(answer, { idleMs: 2_000 });
  await expect(buffer(bodyOf(reply))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
});

test('a connection that breaks before anybody reads is an outage too', async () => {
  const { reply } = await get((socket) => socket.write(head, () => socket.resetAndDestroy()));
  await expect(buffer(bodyOf(reply))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
});

test('an abort ends the connection, before the head and after it', async () => {
  const reason = new Error('the client went away');
  const early = new AbortController();
  const waiting = get(() => early.abort(reason), { signal: early.signal });
  await expect(waiting).rejects.toBe(reason);
  const late = new AbortController();
  const { reply } = await get((socket) => socket.write(head), { signal: late.signal });
  const body = new S3BodyToClient(reply as LargeReply, late.signal);
  late.abort(reason);
  await expect(buffer(body)).rejects.toBe(reason);
});

test('destroying the body ends the connection', async () => {
  const { reply } = await get((socket) => {
    socket.write(head);
    socket.write(content.subarray(0, 1 << 20));
  });
  bodyOf(reply).destroy();
  await expect.poll(() => [...sockets].every(({ destroyed }) => destroyed)).toBe(true);
});
