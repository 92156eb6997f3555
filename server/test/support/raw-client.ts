// A raw HTTP client that can break the rules: wrong lengths, half-sent requests, resets.
import { once } from 'node:events';
import net from 'node:net';

export interface RawReply {
  /** 0 when the connection ended without a reply. */
  readonly status: number;
  readonly text: string;
}

export interface RawRequest {
  /** POST if it is absent. */
  readonly method?: string;
  readonly path: string;
  readonly as?: string;
  readonly headers: readonly string[];
}

export interface RawClient {
  /** Resolves when the kernel has the bytes, or the connection is gone. */
  write(bytes: Buffer | string): Promise<void>;
  /** The first reply, or the end of the connection. */
  reply(): Promise<RawReply>;
  readonly answered: boolean;
  /** The connection has ended. */
  readonly gone: boolean;
  /** A reset, as when a phone loses its network. */
  hangUp(): void;
  end(): void;
}

export async function openRawPost(
  baseUrl: string,
  { method = 'POST', path, as, headers }: RawRequest,
): Promise<RawClient> {
  const { hostname, port, pathname, host } = new URL(baseUrl);
  const socket = net.connect(Number(port), hostname);
  await once(socket, 'connect');
  const received: Buffer[] = [];
  let found: RawReply | null = null;
  let gone = false;
  const writing = new Set<() => void>();
  const waiting: ((reply: RawReply) => void)[] = [];
  const settle = (reply: RawReply) => {
    found ??= reply;
    for (const resolve of waiting.splice(0)) resolve(found);
  };
  socket.on('data', (chunk) => {
    received.push(chunk);
    const reply = parseReply(Buffer.concat(received).toString('latin1'));
    if (reply) settle(reply);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    gone = true;
    for (const resolve of writing) resolve();
    settle({ status: 0, text: '' });
  });
  socket.write(
    [
      `${method} ${pathname}${path} HTTP/1.1`,
      `Host: ${host}`,
      ...(as === undefined ? [] : [`Authorization: Bearer ${as}`]),
      ...headers,
      '',
      '',
    ].join('\r\n'),
  );
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (gone) return resolve();
        writing.add(resolve);
        socket.write(bytes, () => {
          writing.delete(resolve);
          resolve();
        });
      }),
    reply: () => new Promise((resolve) => (found ? resolve(found) : waiting.push(resolve))),
    get answered() {
      return found !== null;
    },
    get gone() {
      return gone;
    },
    hangUp: () => socket.resetAndDestroy(),
    end: () => socket.destroy(),
  };
}

function parseReply(text: string): RawReply | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [, status = '0'] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
  const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end)) ?? [];
  const body = text.slice(end + 4);
  return body.length < Number(length) ? null : { status: Number(status), text: body };
}
