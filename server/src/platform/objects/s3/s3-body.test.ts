import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { S3Body } from './s3-body.ts';

const replyOf = (body: Readable) => ({ headers: {}, body });

const bytes = Buffer.alloc(600_000, 'pakhus ');

/** Ends with an error after the first half. */
const broken = (error: Error): Readable =>
  Readable.from(
    (async function* () {
      yield bytes.subarray(0, 300_000);
      throw error;
    })(),
  );

test('passes on every byte of a source that is faster than its reader', async () => {
  const pieces = [bytes.subarray(0, 300_000), bytes.subarray(300_000, 300_001), bytes.subarray(300_001)];
  const read = await buffer(new S3Body(replyOf(Readable.from(pieces)), undefined));
  expect(read.equals(bytes)).toBe(true);
});

test('a body that breaks off is an outage of the store, never a shorter body', async () => {
  const body = new S3Body(replyOf(broken(new Error('socket hang up'))), undefined);
  await expect(buffer(body)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
});

test('a caller that has aborted gets its own reason', async () => {
  const abort = new AbortController();
  const reason = new Error('the client went away');
  abort.abort(reason);
  await expect(buffer(new S3Body(replyOf(broken(new Error('aborted'))), abort.signal))).rejects.toBe(reason);
});

test('destroying it destroys the source, so that no connection is left open', async () => {
  const source = Readable.from([bytes]);
  new S3Body(replyOf(source), undefined).destroy();
  expect(source.destroyed).toBe(true);
});

test('a body that breaks off again and again is asked for the rest, of the same version and not for ever', async () => {
  const asked: [number, string][] = [];
  const pieces = [broken(new Error('reset')), Readable.from([bytes.subarray(300_000)])];
  const first = {
    headers: { etag: '"a"', 'content-range': 'bytes 0-599999/700000' },
    body: pieces[0] as Readable,
  };
  const body = new S3Body(first, undefined, async (received, etag) => {
    asked.push([received, etag]);
    return replyOf(pieces[1] as Readable);
  });
  expect(body.object).toEqual({ bytes: 700_000, etag: '"a"' });
  expect((await buffer(body)).equals(bytes)).toBe(true);
  expect(asked).toEqual([[300_000, '"a"']]);
  let opened = 0;
  const hopeless = new S3Body(replyOf(broken(new Error('reset'))), undefined, async () => {
    opened += 1;
    return replyOf(broken(new Error('reset')));
  });
  await expect(buffer(hopeless)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  expect(opened).toBe(4);
});
