// An HTTP proxy on loopback that fails on purpose, between a store and the real server. It forwards requests unchanged,
// including the Host header, so that signatures stay valid.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fault =
  /** The request never reaches the server; the connection is reset. */
  | { readonly kind: 'reset' }
  /** The request is read; no reply is ever sent. */
  | { readonly kind: 'hang' }
  /** The server handles the request; no reply is ever sent. */
  | { readonly kind: 'storedThenHang' }
  | { readonly kind: 'latency'; readonly ms: number }
  /** The reply's head and that many bytes of its body come through, then a reset. */
  | { readonly kind: 'cutReply'; readonly bytes: number }
  /** The same, but followed by silence instead of a reset. */
  | { readonly kind: 'stallReply'; readonly bytes: number }
  /** The server handles the request; its reply is lost with the connection. */
  | { readonly kind: 'storedThenLost' }
  /** The proxy replies; the server never sees the request. */
  | { readonly kind: 'status'; readonly status: number; readonly code?: string }
  /** The proxy replies with a maintenance page, with 200 or another status; the server never sees the request. */
  | { readonly kind: 'page'; readonly status?: number }
  /** The server handles the request, but the client gets this reply. */
  | { readonly kind: 'storedThenStatus'; readonly status: number; readonly code?: string }
  /** The connection is reset after that many bytes of the request's body. */
  | { readonly kind: 'cutRequest'; readonly bytes: number };

export interface FaultRule {
  readonly fault: Fault;
  /** How many requests it affects; all of them if absent. */
  readonly count?: number;
  /** Affects only these. */
  readonly when?: (request: http.IncomingMessage) => boolean;
}

export interface FaultProxy {
  readonly url: string;
  /** Every request since the last call of `set`, as 'METHOD path?query'. */
  readonly seen: readonly string[];
  /** Connections that clients hold open now. */
  openConnections(): Promise<number>;
  set(...rules: FaultRule[]): void;
  /** Stops listening and drops every connection: the next one is refused. */
  refuse(): Promise<void>;
  /** Listens again, at the same address. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

interface LiveRule extends FaultRule {
  left: number;
}

export async function startFaultProxy(upstream: string): Promise<FaultProxy> {
  const target = new URL(upstream);
  const agent = new http.Agent({ keepAlive: true });
  const seen: string[] = [];
  let rules: LiveRule[] = [];
  const server = http.createServer((request, reply) => {
    seen.push(`${request.method} ${request.url}`);
    const rule = rules.find((one) => one.left > 0 && (one.when?.(request) ?? true));
    if (rule) rule.left -= 1;
    handle(request, reply, rule?.fault);
  });
  server.keepAliveTimeout = 60_000;
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function listen(at: number): Promise<void> {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  }

  function handle(request: http.IncomingMessage, reply: http.ServerResponse, fault: Fault | undefined): void {
    request.on('error', () => undefined);
    reply.on('error', () => undefined);
    if (fault?.kind === 'reset') request.socket.resetAndDestroy();
    else if (fault?.kind === 'hang') request.resume();
    else if (fault?.kind === 'status') answerAfter(request, reply, fault.status, fault.code);
    else if (fault?.kind === 'page') request.resume().on('end', () => showPage(reply, fault.status));
    else if (fault?.kind === 'latency') setTimeout(() => forward(request, reply, undefined), fault.ms);
    else forward(request, reply, fault);
  }

  function forward(
    request: http.IncomingMessage,
    reply: http.ServerResponse,
    fault: Fault | undefined,
  ): void {
    const onward = http.request({
      agent,
      host: target.hostname,
      port: target.port,
      method: request.method,
      path: request.url,
      headers: request.headers,
    });
    onward.on('error', () => request.socket.resetAndDestroy());
    onward.on('response', (answer) => deliver(answer, request, reply, fault));
    // A client that disconnects aborts its unfinished request.
    request.on('close', () => {
      if (!request.complete) onward.destroy();
    });
    if (fault?.kind === 'cutRequest') cutRequest(request, onward, fault.bytes);
    else request.pipe(onward);
  }

  function deliver(
    answer: http.IncomingMessage,
    request: http.IncomingMessage,
    reply: http.ServerResponse,
    fault: Fault | undefined,
  ): void {
    answer.on('error', () => undefined);
    switch (fault?.kind) {
      case 'storedThenHang':
        answer.resume();
        return;
      case 'storedThenLost':
        answer.resume().on('end', () => request.socket.resetAndDestroy());
        return;
      case 'storedThenStatus':
        answer.resume().on('end', () => say(reply, fault.status, fault.code));
        return;
      case 'cutReply':
        passSome(answer, reply, fault.bytes, () => request.socket.resetAndDestroy());
        return;
      case 'stallReply':
        passSome(answer, reply, fault.bytes, () => undefined);
        return;
      default:
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(reply);
        reply.on('close', () => answer.destroy());
    }
  }

  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    set(...next) {
      seen.length = 0;
      rules = next.map((rule) => ({ ...rule, left: rule.count ?? Number.POSITIVE_INFINITY }));
    },
    async refuse() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
    accept: () => listen(port),
    async close() {
      agent.destroy();
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function say(reply: http.ServerResponse, status: number, code = 'InternalError'): void {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>on purpose</Message></Error>`;
  reply.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length });
  reply.end(body);
}

function showPage(reply: http.ServerResponse, status = 200): void {
  const body = '<!doctype html><title>Down for maintenance</title><h1>We will be back soon</h1>';
  reply.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length });
  reply.end(body);
}

function answerAfter(
  request: http.IncomingMessage,
  reply: http.ServerResponse,
  status: number,
  code: string | undefined,
): void {
  request.resume().on('end', () => say(reply, status, code));
}

function passSome(
  answer: http.IncomingMessage,
  reply: http.ServerResponse,
  bytes: number,
  then: () => void,
): void {
  let left = bytes;
  reply.writeHead(answer.statusCode ?? 502, answer.headers);
  reply.flushHeaders();
  answer.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    reply.write(piece, left > 0 ? undefined : then);
  });
  answer.on('end', () => {
    if (left > 0 || bytes === 0) then();
  });
}

function cutRequest(request: http.IncomingMessage, onward: http.ClientRequest, bytes: number): void {
  let left = bytes;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left > 0) onward.write(chunk);
    else {
      onward.destroy();
      request.socket.resetAndDestroy();
    }
  });
  request.on('end', () => onward.end());
}
