// What both ports to the object store call an object.
import type { Readable } from 'node:stream';
import type { PushedBody } from './pushed-body.ts';

export type Zone = 'private' | 'public';

export interface ObjectMeta {
  /** The Content-Type that readers are given. */
  readonly contentType: string;
  /** The full Content-Disposition header that readers are given. */
  readonly contentDisposition: string;
}

/** `PushedBody` is cheapest for bytes that arrive, a Buffer for bytes that are in memory anyway. */
export type Body = Readable | PushedBody | Buffer;
