// The program of a hash thread: keeps the state of every hash that is open, writes what it hashes, and answers in order. An
// error ends the thread, and with it all its states: no digest can come from a state that missed some bytes.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { noteChunk } from '../heap.ts';
import { createDigest, type Digest, type HashAlgorithm } from './digest.ts';
import { type FilePlace, writeTo } from './file-place.ts';
import type { HashReply, HashRequest, WriteFault } from './hash-protocol.ts';

interface State {
  readonly hash: Digest;
  total: number;
}

/** Requests come first when cores are scarce. */
const niceness = 10;
// Linux applies it to this thread alone, other systems to the whole process.
if (process.platform === 'linux') setPriority(niceness);

const states = new Map<number, State>();

function findState(id: number, algorithm: HashAlgorithm): State {
  let state = states.get(id);
  if (!state) {
    state = { hash: createDigest(algorithm), total: 0 };
    states.set(id, state);
  }
  return state;
}

/** A full disk concerns one upload, not the others of this thread. */
function tryWrite(place: FilePlace, bytes: Uint8Array): WriteFault | null {
  try {
    writeTo(place, bytes);
    return null;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { message, code };
  }
}

parentPort?.on('message', (request: HashRequest) => {
  const { id } = request;
  if (request.kind === 'forget') {
    states.delete(id);
    return;
  }
  const state = findState(id, request.algorithm);
  let fault: WriteFault | null = null;
  if (request.kind === 'update') {
    state.hash.update(request.bytes);
    state.total += request.bytes.length;
    if (request.place) fault = tryWrite(request.place, request.bytes);
    noteChunk(request.bytes.length);
  } else states.delete(id);
  const digest = request.kind === 'digest' ? state.hash.digest() : null;
  const reply: HashReply = { id, total: state.total, digest, fault };
  parentPort?.postMessage(reply);
});
