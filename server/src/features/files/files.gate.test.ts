// The gate on a real connection, because what pauses a request is up to Node.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { BodyGate } from './files.gate.ts';

const mib = 1 << 20;
const chunkBytes = 64 << 10;

/** Sends a body and resolves to how many bytes of it were read in each iteration of the event loop. */
async function readInTurns(bytes: number): Promise<{ readonly turns: number[]; readonly holds: number }> {
  const turns: number[] = [];
  let turnBytes = 0;
  const server = createServer((request, reply) => {
    const gate = new BodyGate(request);
    request.on('data', (chunk: Buffer) => {
      if (turnBytes === 0)
        setImmediate(() => {
          turns.push(turnBytes);
          turnBytes = 0;
        });
      turnBytes += chunk.length;
      gate.count(chunk.length);
    });
    request.on('end', () => reply.end(String(gate.holds)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(`POST / HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`);
  client.write(Buffer.alloc(bytes));
  let reply = '';
  for await (const chunk of client) reply += chunk;
  server.close();
  return { turns, holds: Number(reply.split('\r\n\r\n')[1]) };
}

it('lets an upload read two chunks of 64 KiB in an iteration, then others have their turn', async () => {
  const { turns, holds } = await readInTurns(16 * mib);
  expect(turns.reduce((sum, bytes) => sum + bytes)).toBe(16 * mib);
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * chunkBytes);
  expect(holds, 'a turn that ends is no hold').toBe(0);
});
