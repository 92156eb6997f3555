// Sends large uploads at once, without holding them in memory: the same megabyte over and over. A process of its own, so
// that it neither waits for the bench nor shares the event loop of anything measured. Its argument is JSON:
// { urls, headers, bytes, count, repeat }. Prints the duration in ms and how many uploads had to be sent again; with `repeat` it goes on until it is stopped.
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { formHead, formHeaders, formTail } from './forms.mjs';

const { urls, headers, bytes, count, repeat } = JSON.parse(process.argv[2]);
const piece = randomBytes(1 << 20);
const head = formHead('large.bin');
const attemptsMax = 30;
let again = 0;
const startedAt = performance.now();
await Promise.all(
  Array.from({ length: count }, async (_, n) => {
    do await send(urls[n % urls.length]);
    while (repeat);
  }),
);
console.log(JSON.stringify({ tookMs: performance.now() - startedAt, again }));

/** Refused uploads are sent again, as the service asks its clients to do. */
async function send(url) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(url);
    } catch (error) {
      if (attempt === attemptsMax) throw error;
      again += 1;
      await delay(1000);
    }
  }
}

async function sendOnce(url) {
  const length = head.length + bytes + formTail.length;
  const response = await new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent: false, headers: { ...headers, ...formHeaders, 'content-length': length } },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.write(head);
    pump(outgoing);
  });
  const text = (await response.toArray()).join('');
  if (response.statusCode !== 201) throw new Error(`upload got status ${response.statusCode}: ${text}`);
}

function pump(outgoing, sent = 0) {
  let at = sent;
  while (at < bytes) {
    const next = piece.subarray(0, Math.min(piece.length, bytes - at));
    at += next.length;
    if (!outgoing.write(next)) return outgoing.once('drain', () => pump(outgoing, at));
  }
  outgoing.end(formTail);
}
