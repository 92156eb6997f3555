// Sends one large file by tus in chunks, without holding it in memory: the same megabyte over and over, on one connection.
// A process of its own, so that it neither waits for the bench nor shares the event loop of anything measured. Its argument
// is JSON: { url, headers, bytes, chunkBytes }, where `url` creates uploads. Prints the duration in ms.
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';

const { url, headers, bytes, chunkBytes } = JSON.parse(process.argv[2]);
const piece = randomBytes(1 << 20);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const tus = { 'tus-resumable': '1.0.0' };

const startedAt = performance.now();
const created = await send('POST', url, { ...headers, 'upload-length': bytes }, 0, 201);
for (let at = 0; at < bytes; at += chunkBytes) {
  const length = Math.min(chunkBytes, bytes - at);
  const chunkHeaders = { 'upload-offset': at, 'content-type': 'application/offset+octet-stream' };
  await send('PATCH', created.location, chunkHeaders, length, 204);
}
console.log(JSON.stringify({ tookMs: performance.now() - startedAt }));
agent.destroy();

async function send(method, to, more, length, expected) {
  const response = await new Promise((resolve, reject) => {
    const outgoing = request(
      to,
      { method, agent, headers: { ...tus, ...more, 'content-length': length } },
      resolve,
    );
    outgoing.on('error', reject);
    pump(outgoing, length);
  });
  const text = (await response.toArray()).join('');
  if (response.statusCode !== expected)
    throw new Error(`${method} got status ${response.statusCode}: ${text}`);
  return response.headers;
}

function pump(outgoing, length, sent = 0) {
  let at = sent;
  while (at < length) {
    const next = piece.subarray(0, Math.min(piece.length, length - at));
    at += next.length;
    if (!outgoing.write(next)) return outgoing.once('drain', () => pump(outgoing, length, at));
  }
  outgoing.end();
}
