// Upload bodies for the load: a multipart form with one file.
import { randomBytes } from 'node:crypto';

const boundary = 'pakhus-bench-boundary';

export const formHeaders = { 'content-type': `multipart/form-data; boundary=${boundary}` };

/** A field in front of the file. */
export const formField = (name, text) =>
  Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`);

export const formHead = (name) =>
  Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
  );

export const formTail = Buffer.from(`\r\n--${boundary}--\r\n`);

/** The whole body of an upload with the given number of random bytes. */
export const formOf = (bytes) => Buffer.concat([formHead('bench.bin'), randomBytes(bytes), formTail]);
