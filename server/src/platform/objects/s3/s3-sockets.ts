// How connections to the store are read. Node.js reads 64 KiB at a time into new memory; larger reads, copied out of one buffer,
// take a third less CPU for a large object.
import type { Socket } from 'node:net';

const readBytesMax = 256 << 10;

/** Shared by all connections: what was read is copied before anything else runs. */
const buffer = Buffer.allocUnsafeSlow(readBytesMax);

/** The option `onread` of a connection. Its stream works as usual, back-pressure included. */
export const largeReads = {
  buffer,
  callback(this: Socket, bytes: number): boolean {
    return this.push(Buffer.from(buffer.subarray(0, bytes)));
  },
};
