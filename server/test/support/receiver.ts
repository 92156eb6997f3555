// A receiver of webhooks on loopback, which answers as the test wants and remembers what it got.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { until } from './processes.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events freely.
  readonly event: any;
  readonly at: number;
}

export type Answer = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

export interface ReceiverOptions {
  readonly answer?: Answer;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export class Receiver {
  readonly got: Received[] = [];
  readonly sockets = new Set<Socket>();
  readonly port: number;
  readonly url: string;
  answer: Answer;
  readonly #close: () => Promise<void>;

  constructor(answer: Answer, port: number, url: string, close: () => Promise<void>) {
    this.answer = answer;
    this.port = port;
    this.url = url;
    this.#close = close;
  }

  /** The ids of the events, in the order in which they came. */
  get ids(): string[] {
    return this.got.map(({ headers }) => String(headers['webhook-id']));
  }

  get types(): string[] {
    return this.got.map(({ event }) => event.type);
  }

  /** Waits until `count` messages have come. */
  receives(count: number): Promise<Received[]> {
    return until(`${count} messages at the receiver`, async () => this.got.length >= count && this.got);
  }

  stop(): Promise<void> {
    return this.#close();
  }
}

export const ok: Answer = (response) => void response.end('ok');
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end(`status ${code}`);

export async function startReceiver({ answer = ok, tls }: ReceiverOptions = {}): Promise<Receiver> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { headers, url: path = '' } = request;
    const received = { headers, path, text, event: JSON.parse(text), at: Date.now() };
    receiver.got.push(received);
    receiver.answer(response, received, request);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void handle(request, response).catch(() => request.destroy());
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.on('tlsClientError', () => undefined);
  server.on('connection', (socket: Socket) => {
    receiver.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => receiver.sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver = new Receiver(
    answer,
    port,
    `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of receiver.sockets) socket.destroy();
      }),
  );
  return receiver;
}
