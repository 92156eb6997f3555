// Bytes that pass through memory that is used again: they must be right however they arrive and however slowly they are read.
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOpenLarge } from './large-get.ts';
import { S3BodyToClient } from './s3-body.ts';
import type { OpenReply } from './s3-client.ts';
import { largeReads, releaseChunk } from './s3-sockets.ts';

const bytes = 24 << 20;
/** These tests are about bytes, also on a machine that stands still for a while. */
const patienceMs = 60_000;

/** Differs from byte to byte and from download to download, so that a block used too early shows. */
const contentOf = (seed: number): Buffer => {
  const content = Buffer.allocUnsafe(bytes);
  for (let at = 0; at < bytes; at += 4) content.writeUInt32LE((at * 2654435761 + seed * 40503) >>> 0, at);
  return content;
};
const contents = Array.from({ length: 4 }, (_, seed) => contentOf(seed));
const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

function* piecesOf(content: Buffer, bytesMax: number): Generator<Buffer> {
  for (let at = 0; at < content.length; ) {
    const end = at + randomInt(1, bytesMax);
    yield content.subarray(at, end);
    at = end;
  }
}

let store: Server;
let pool: Pool;
let proxy: Server;

const listen = async (listener: RequestListener): Promise<Server> => {
  const server = createServer(listener);
  // A connection that it closes while a request is on its way would fail that request.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
};
const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  // In writes of any size; `/large` is read without undici; `/chunked` has no length, so one read may hold several chunks.
  store = await listen((request, response) => {
    const [, kind, seed] = (request.url ?? '').split('/');
    const isChunked = kind === 'chunked';
    if (!isChunked) response.setHeader('content-length', bytes);
    const content = contents[Number(seed)] as Buffer;
    Readable.from(piecesOf(content, isChunked ? 100_000 : 2_000_000), { objectMode: false }).pipe(response);
  });
  pool = new Pool(originOf(store), { connections: 64, connect: { timeout: patienceMs, onread: largeReads } });
  const openLarge = createOpenLarge(patienceMs);
  proxy = await listen((request, response) => {
    const path = request.url ?? '/';
    const opened: Promise<OpenReply | null> = path.startsWith('/large')
      ? openLarge({ origin: originOf(store), path, headers: {}, idleMs: patienceMs })
      : pool.request({ method: 'GET', path });
    // Before the first byte, a test can be told why there are none.
    const fail = (error: unknown) =>
      response.headersSent ? response.destroy() : response.writeHead(502).end(inspect(error));
    const passOn = (reply: OpenReply | null) =>
      new S3BodyToClient(reply as OpenReply).on('error', fail).pipe(response);
    opened.then(passOn).catch(fail);
  });
});
afterAll(async () => {
  await pool.destroy();
  for (const server of [proxy, store]) server.close();
});

/** Over a new connection: Node's agent may choose one that it has just closed. */
const ask = (path: string) => get(`${originOf(proxy)}${path}`, { agent: false });

async function download(path: string, pauseMs: () => number): Promise<string> {
  const [response] = (await once(ask(path), 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(await text(response));
  const hash = createHash('sha256');
  let received = 0;
  for await (const chunk of response as Readable) {
    hash.update(chunk as Buffer);
    received += (chunk as Buffer).length;
    const wait = pauseMs();
    if (wait > 0) await delay(wait);
  }
  expect(received).toBe(bytes);
  return hash.digest('hex');
}

const never = () => 0;
const sometimes = () => (randomInt(30) === 0 ? 2 : 0);

test.each([
  ['one after another', 'plain', 1, never],
  ['several at once, some slow', 'plain', 8, sometimes],
  ['in chunks', 'chunked', 4, sometimes],
  ['more than get blocks', 'plain', 40, never],
  ['past undici, one after another', 'large', 1, never],
  ['past undici, several at once, some slow', 'large', 8, sometimes],
  ['past undici, more than get blocks', 'large', 40, sometimes],
] as const)('every byte arrives: %s', async (_how, kind, count, pauseMs) => {
  const seeds = Array.from({ length: Math.max(count, 4) }, (_, nth) => nth % contents.length);
  for (let at = 0; at < seeds.length; at += count) {
    const digests = await Promise.all(
      seeds.slice(at, at + count).map((seed) => download(`/${kind}/${seed}`, pauseMs)),
    );
    expect(digests).toEqual(seeds.slice(at, at + count).map((seed) => digest(contents[seed] as Buffer)));
  }
});

test('clients that leave in the middle spoil nothing for others', async () => {
  const leave = async () => {
    const request = ask('/plain/0');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'data');
    // The connection breaks for both sides.
    response.on('error', () => undefined);
    request.destroy();
  };
  const [digested] = await Promise.all([
    download('/plain/1', sometimes),
    ...Array.from({ length: 10 }, leave),
  ]);
  expect(digested).toBe(digest(contents[1] as Buffer));
});

test('a chunk is used again only as a whole, and only once', async () => {
  const { body } = await pool.request({ method: 'GET', path: '/plain/2' });
  const kept: Buffer[] = [];
  for await (const chunk of body) {
    kept.push(chunk as Buffer);
    releaseChunk((chunk as Buffer).subarray(1));
    releaseChunk((chunk as Buffer).subarray(0, 10));
  }
  expect(digest(Buffer.concat(kept))).toBe(digest(contents[2] as Buffer));
  const whole = kept.find(({ byteOffset, length }) => byteOffset === 0 && length > 100_000) as Buffer;
  releaseChunk(whole);
  releaseChunk(whole);
  const others = await Promise.all([download('/plain/3', sometimes), download('/plain/0', sometimes)]);
  expect(others).toEqual([digest(contents[3] as Buffer), digest(contents[0] as Buffer)]);
});
