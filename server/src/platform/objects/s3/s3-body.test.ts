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
