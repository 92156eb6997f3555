// Reads large objects without undici, which copies all that it receives into the memory of its parser: a fifth of the CPU time of
// a download. Once the head of such a reply has arrived, there is nothing left to parse.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';
import { type PlainHead, parsePlainHead } from './plain-head.ts';
import { largeReads, releaseChunk } from './s3-sockets.ts';

/** Below this, a connection of its own costs more than the copy. */
export const largeBytesMin = 8 << 20;

export interface LargeGet {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How long the server may be silent. */
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a reader needs of a stream. */
export interface ByteSource {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

export interface LargeReply extends PlainHead {
  /** Paused. Must be read or destroyed. */
  readonly body: ByteSource;
}

/** Resolves to null if the reply is not simply bytes of a known length: ask again in the usual way. */
export type OpenLarge = (get: LargeGet) => Promise<LargeReply | null>;

const headBytesMax = 64 << 10;
const headEnd = '\r\n\r\n';

export function createOpenLarge(connectTimeoutMs: number): OpenLarge {
  // The types do not know that a connector takes all options of a socket.
  const options = { timeout: connectTimeoutMs, onread: largeReads } as buildConnector.BuildOptions;
  const connector = buildConnector(options);
  return async (get) => {
    const socket = await connect(connector, get);
    try {
      socket.write(requestOf(get));
      const head = parsePlainHead(await readHead(socket, get.idleMs));
      if (head) return { ...head, body: new SocketBody(socket, head.bytes, get.idleMs) };
      socket.destroy();
      return null;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

function connect(connector: buildConnector.connector, { origin, signal }: LargeGet): Promise<Socket> {
  const { protocol, hostname, host, port } = new URL(origin);
  const address = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port };
  return new Promise((resolve, reject) => {
    connector(address, (error, socket) => {
      if (error) return reject(error);
      // Told by 'close' as well, which is where it is looked for.
      socket.on('error', () => undefined);
      destroyOnAbort(socket, signal);
      resolve(socket);
    });
  });
}

function destroyOnAbort(socket: Socket, signal: AbortSignal | undefined): void {
  const onAbort = () => socket.destroy(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  socket.once('close', () => signal?.removeEventListener('abort', onAbort));
}

const requestOf = ({ origin, path, headers }: LargeGet): string => {
  const lines = Object.entries({ host: new URL(origin).host, ...headers, connection: 'close' });
  return `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
};

/** Leaves the socket paused, with what came after the head put back. */
function readHead(socket: Socket, idleMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      releaseChunk(chunk);
      const end = received.indexOf(headEnd);
      if (end >= 0) onHead(received.toString('latin1', 0, end), received.subarray(end + headEnd.length));
      else if (received.length > headBytesMax) socket.destroy(new errors.HeadersOverflowError());
    };
    const onHead = (head: string, rest: Buffer) => {
      socket.pause().off('data', onData).off('timeout', onTimeout).off('close', onClose);
      if (rest.length > 0) socket.unshift(rest);
      resolve(head);
    };
    const onTimeout = () => socket.destroy(new errors.HeadersTimeoutError());
    const onClose = () => reject(faultOf(socket));
    socket.setTimeout(idleMs).on('data', onData).once('timeout', onTimeout).once('close', onClose);
  });
}

const faultOf = (socket: Socket): Error => socket.errored ?? new errors.SocketError('other side closed');

/** The bytes that a socket receives. Not a stream, because the socket is one already. */
class SocketBody extends EventEmitter implements ByteSource {
  readonly #socket: Socket;
  readonly #idleMs: number;
  #left: number;

  constructor(socket: Socket, bytes: number, idleMs: number) {
    super();
    this.#socket = socket;
    this.#idleMs = idleMs;
    this.#left = bytes;
    socket
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('timeout', () => this.#giveUpOnSilence())
      // Later, because whoever asked for the body may not have it yet.
      .once('close', () => setImmediate(() => this.#left > 0 && this.emit('error', faultOf(socket))))
      .pause();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#socket.isPaused()) return;
    // The server could send nothing while nobody read.
    this.#socket.setTimeout(this.#idleMs).resume();
  }

  destroy(): void {
    this.#left = 0;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    const wanted = chunk.length > this.#left ? chunk.subarray(0, this.#left) : chunk;
    this.#left -= wanted.length;
    if (wanted.length > 0) this.emit('data', wanted);
    if (this.#left > 0) return;
    this.#socket.destroy();
    this.emit('end');
  }

  #giveUpOnSilence(): void {
    if (!this.#socket.isPaused()) this.#socket.destroy(new errors.BodyTimeoutError());
  }
}
