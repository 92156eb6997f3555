// What arrives when memory is used again while it is sent, and what becomes of it when something breaks.
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Blocks } from './blocks.ts';
import { type Piece, RecycledBody } from './recycled-body.ts';

const pieceBytes = 1 << 16;
const count = 200;
const expected = Buffer.concat(Array.from({ length: count }, (_, at) => Buffer.alloc(pieceBytes, at)));

/** As many blocks as are ever needed at once. */
class Source {
  readonly blocks = new Blocks(Buffer.allocUnsafeSlow, { bytes: pieceBytes, idleMax: 4 });
  readonly seen = new Set<Buffer>();
  ended = false;

  async *pieces(failAt = count): AsyncGenerator<Piece> {
    try {
      for (let at = 0; at < count; at++) {
        if (at === failAt) throw new Error('the store broke');
        const block = this.blocks.take(pieceBytes);
        this.seen.add(block);
        yield { bytes: block.fill(at), release: () => this.blocks.giveBack(block) };
      }
    } finally {
      this.ended = true;
    }
  }
}

test('a client that reads slowly gets every byte right from three blocks', async () => {
  const source = new Source();
  const server = createServer((_request, response) => new RecycledBody(source.pieces()).pipe(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const [response] = await once(get({ port: (server.address() as AddressInfo).port }), 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    if (chunks.push(chunk) % 20 === 0) await delay(5);
  }
  server.close();
  expect(Buffer.concat(chunks).equals(expected)).toBe(true);
  expect(source.seen.size).toBeLessThanOrEqual(3);
});

test('a reader that keeps the chunks has memory of its own', async () => {
  const source = new Source();
  expect((await buffer(new RecycledBody(source.pieces()))).equals(expected)).toBe(true);
  expect(source.seen.size).toBe(count);
});

/** Keeps what it gets until it says that it is done with it. */
const slowWriter = (got: Buffer[], onPiece: (number: number) => unknown = () => undefined) =>
  new Writable({
    write: (chunk, _encoding, done) =>
      void setImmediate(() => {
        onPiece(got.push(Buffer.from(chunk)));
        done();
      }),
  });

test('a source that fails destroys the body, and does not end the destination as if it were whole', async () => {
  const source = new Source();
  const got: Buffer[] = [];
  const destination = slowWriter(got);
  const body = new RecycledBody(source.pieces(10));
  body.pipe(destination);
  const [error] = await once(body, 'error');
  expect(error).toMatchObject({ message: 'the store broke' });
  await expect.poll(() => got.length).toBe(10);
  expect([destination.writableEnded, source.ended]).toEqual([false, true]);
});

test('a body that is destroyed meanwhile ends its source, and not the destination', async () => {
  const source = new Source();
  const got: Buffer[] = [];
  const body = new RecycledBody(source.pieces());
  const destination = slowWriter(got, (number) => number === 5 && body.destroy());
  body.pipe(destination);
  await once(body, 'close');
  await expect.poll(() => source.ended).toBe(true);
  expect([got.length, destination.writableEnded]).toEqual([5, false]);
});

test('a destination that breaks ends the source', async () => {
  const source = new Source();
  const destination = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')) });
  destination.on('error', () => undefined);
  const body = new RecycledBody(source.pieces());
  body.pipe(destination);
  await once(body, 'error');
  expect(source.ended).toBe(true);
});
