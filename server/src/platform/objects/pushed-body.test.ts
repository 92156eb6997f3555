import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedBuffer } from '../heap.ts';
import { createBodyReader } from './body-reader.ts';
import { PushedBody } from './pushed-body.ts';

const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7 + (at >> 8)) % 251));

/** Fills targets of the given sizes, over and over, until the body has ended. */
async function readInto(body: PushedBody, sizes: readonly number[]): Promise<Buffer> {
  const filled: Buffer[] = [];
  for (let nth = 0; ; nth += 1) {
    const target = sharedBuffer(sizes[nth % sizes.length] ?? 1);
    const piece = await body.fill(target);
    filled.push(Buffer.from(piece));
    if (piece.length < target.length) return Buffer.concat(filled);
  }
}

describe('a pushed body', () => {
  it('comes out as it went in, however it is cut on either side', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(sizes, sizes, fc.array(fc.boolean()), async (chunks, targets, waits) => {
        const body = new PushedBody(() => undefined);
        const read = readInto(body, targets);
        for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
          const length = chunks[nth % chunks.length] ?? 1;
          body.push(bytes.subarray(at, at + length));
          at += length;
          if (waits[nth % waits.length]) await new Promise(setImmediate);
        }
        body.end();
        expect((await read).equals(bytes)).toBe(true);
        expect(body.ended).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('tells its source to pause when 256 KiB wait, and asks for more once they are taken', async () => {
    let asked = 0;
    const body = new PushedBody(() => {
      asked += 1;
    });
    const chunk = Buffer.alloc(128 << 10);
    expect(body.push(chunk)).toBe(true);
    expect(body.push(chunk)).toBe(false);
    expect(asked).toBe(0);
    await body.fill(sharedBuffer(128 << 10));
    expect(asked).toBe(1);
    expect(body.push(Buffer.alloc(1))).toBe(true);
  });

  it('fails the fill that waits when it is cut off or aborted, and later ones as well', async () => {
    const reason = new Error('left');
    const abort = new AbortController();
    const aborted = createBodyReader(new PushedBody(() => undefined), abort.signal);
    const waiting = aborted.fill(sharedBuffer(10));
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(aborted.fill(sharedBuffer(10))).rejects.toBe(reason);
    const body = new PushedBody(() => undefined);
    const cut = body.fill(sharedBuffer(10));
    body.push(Buffer.alloc(3));
    body.destroy();
    await expect(cut).rejects.toThrow('cut off');
    expect(body.push(Buffer.alloc(1 << 20)), 'a body that is cut off takes and drops everything').toBe(true);
    await expect(body.fill(sharedBuffer(10))).rejects.toThrow('cut off');
  });
});
