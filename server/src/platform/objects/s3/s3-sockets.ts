// How connections to the store are read. Node.js reads 64 KiB at a time into new memory. Large objects are read in larger
// pieces, into blocks that are used again once their bytes have been sent on: that takes a third of the CPU time.
import type { Socket } from 'node:net';
import { noteChunk } from '../../heap.ts';
import { Blocks } from '../../memory/blocks.ts';

const blockBytes = 1 << 20;
/** Less than this is copied, so that it does not hold a whole block. */
const lentBytesMin = 32 << 10;
/** A slow reader holds up to five blocks. With more readers than this, no connection gets a block. */
const readersMax = 16;

const blocks = new Blocks(allocate, { bytes: blockBytes, idleMax: 4 });
/** Shared by all connections that have no block: what was read is copied before anything else runs. */
const scratch = Buffer.allocUnsafeSlow(64 << 10);
/** By the memory of a block that was lent: how many of its bytes. */
const lent = new WeakMap<ArrayBufferLike, number>();
let readers = 0;
/** Where the connection that has just been read is read next. */
let next: Buffer = scratch;

/** The option `onread` of a connection. Its stream works as usual, back-pressure included. */
export const largeReads = {
  buffer(): Buffer {
    const chosen = next;
    next = scratch;
    return chosen;
  },
  callback(this: Socket, bytes: number, memory: Uint8Array): boolean {
    const read = memory as Buffer;
    const isLent = read !== scratch && bytes >= lentBytesMin;
    const wantsMore = this.push(isLent ? lend(read, bytes) : copyOf(read, bytes));
    next = chooseNext(read, bytes, isLent);
    return wantsMore;
  },
};

/** Counted as garbage, because not every reader releases what it gets. */
function allocate(bytes: number): Buffer {
  noteChunk(bytes);
  return Buffer.allocUnsafeSlow(bytes);
}

function lend(block: Buffer, bytes: number): Buffer {
  lent.set(block.buffer, bytes);
  return block.subarray(0, bytes);
}

function copyOf(memory: Buffer, bytes: number): Buffer {
  noteChunk(bytes);
  return Buffer.from(memory.subarray(0, bytes));
}

/** After a large read there is probably more to come. */
function chooseNext(read: Buffer, bytes: number, isLent: boolean): Buffer {
  const wantsBlock = bytes >= lentBytesMin && readers <= readersMax;
  if (read !== scratch && !isLent) blocks.giveBack(read);
  return wantsBlock ? blocks.take(blockBytes) : scratch;
}

/** Until the function that it returns is called. */
export function countReader(): () => void {
  readers += 1;
  return () => {
    readers -= 1;
  };
}

/** Only when nobody will read the chunk any more. */
export function releaseChunk(chunk: Buffer): void {
  // A part of what was lent is not enough: somebody may still have the rest.
  if (chunk.byteOffset !== 0 || lent.get(chunk.buffer) !== chunk.length) return;
  lent.delete(chunk.buffer);
  blocks.giveBack(Buffer.from(chunk.buffer));
}
