// Sends large uploads without holding them in memory: the same megabyte over and over. Runs as its own process, so
// that the sender shares as little of a core's cache with the server as possible.
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { formHead, formHeaders, formTail } from './forms.mjs';

const piece = randomBytes(1 << 20);

/** Resolves to the duration and to the status and text of the reply. */
export function sendLarge(url, headers, bytes) {
  const head = formHead('large.bin');
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        headers: { ...headers, ...formHeaders, 'content-length': head.length + bytes + formTail.length },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (more) => {
          text += more;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode, text, tookMs: performance.now() - startedAt }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.write(head);
    let left = bytes;
    const pump = () => {
      while (left > 0) {
        const next = left < piece.length ? piece.subarray(0, left) : piece;
        left -= next.length;
        if (!outgoing.write(next)) return outgoing.once('drain', pump);
      }
      outgoing.end(formTail);
    };
    pump();
  });
}
