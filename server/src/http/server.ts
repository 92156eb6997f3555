// The HTTP server: hooks for every request, the routes of the table, and the pages.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { createIdentify, type Identify } from '../features/credentials/credentials.together.ts';
import { newId } from '../kernel/id.ts';
import { FairSemaphore } from '../platform/concurrency/fair-semaphore.ts';
import { type Bookkeeping, createBookkeeping, pathOf } from './bookkeeping.ts';
import { keepMetering, meterChunks } from './chunk-meter.ts';
import { type Console, publicPath, serveConsole } from './console.ts';
import { allowedMethods, globalCors, preflightCors, sendCors } from './cors.ts';
import { byDialect } from './dialect.ts';
import {
  buildRawRefusal,
  hostMissing,
  hostRepeated,
  routeNotFound,
  toEnvelope,
  tooFarAhead,
  toPakhusError,
} from './error-reply.ts';
import { serveGuides } from './guides.ts';
import { readJsonBody, refuseContent } from './json-body.ts';
import { serveOpenApi } from './openapi.ts';
import { servePages } from './pages.ts';
import { createPipeline, type Pipeline } from './pipeline.ts';
import { apiPrefix, type Endpoint, endpoints } from './route-table.ts';
import { serveShares } from './share-pages.ts';

export interface HttpServer {
  readonly instance: FastifyInstance;
  /** Resolves to the base URL. */
  listen(host: string, port: number): Promise<string>;
  close(): Promise<void>;
}

/** A stop may take 30 s; the rest is for audit rows and counts. */
const inFlightMsMax = 25_000;

/** How long kept-alive connections may still send requests after the stop began. */
const lastRequestsMs = 250;

const jsonBytesMax = 1024 * 1024;

const saneRequestId = /^[\w.:/+=-]{1,128}$/;

export function createHttpServer(deps: Deps, pages: Console | null): HttpServer {
  const books = createBookkeeping(deps);
  const drain: Drain = { isDraining: false, unused: new Set() };
  const instance = createInstance(deps, books);
  watchConnections(deps, instance, drain);
  addHooks(deps, instance, books, drain);
  addRoutes(deps, instance);
  serveOpenApi(instance, deps.version);
  servePages(instance, deps.version, {
    hasConsole: pages !== null,
    publicPath: publicPath(deps.settings),
  });
  if (pages) serveConsole(instance, deps, pages);
  serveGuides(instance);
  serveShares(instance, deps);
  return {
    instance,
    listen: (host, port) => instance.listen({ host, port }),
    close: () => closeGracefully(deps, instance, drain),
  };
}

interface Drain {
  isDraining: boolean;
  /** Connections without a request so far: Node does not count them as idle. */
  readonly unused: Set<Socket>;
}

const createInstance = (deps: Deps, books: Bookkeeping): FastifyInstance =>
  fastify({
    logger: false,
    genReqId: chooseRequestId,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false, constraints: { dialect: byDialect } },
    bodyLimit: jsonBytesMax,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      // No hook has seen the request.
      setCommonHeaders(deps, request, reply);
      sendError(deps, error, reply);
      books.end(request, reply);
    },
    clientErrorHandler: (error, socket) => {
      if (socket instanceof Socket && socket.writable)
        refuseRaw(deps, socket, (error as NodeJS.ErrnoException).code, newId());
      else socket.destroy();
    },
    // A limit on the whole request would cut off large uploads; idle sockets are closed instead.
    requestTimeout: 0,
    connectionTimeout: 60_000,
    keepAliveTimeout: 65_000,
    // Otherwise Node answers a missing Host itself, without the envelope.
    http: { headersTimeout: 20_000, maxHeaderSize: 16 * 1024, requireHostHeader: false },
  });

function watchConnections(deps: Deps, { server }: FastifyInstance, { unused }: Drain): void {
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.prependListener('request', (raw: IncomingMessage, answer: ServerResponse) => {
    overrideMethod(raw);
    meterChunks(raw, () => {
      // An answer that has started, or that is queued behind another, cannot be replaced.
      if (answer.headersSent || !answer.socket) raw.socket.destroy();
      else refuseRaw(deps, raw.socket, 'CHUNKS', chooseRequestId(raw));
    });
  });
  server.on('checkExpectation', (raw: IncomingMessage) =>
    refuseRaw(deps, raw.socket, 'EXPECTATION', chooseRequestId(raw)),
  );
}

/** None of the hooks is async: each would cost every request a promise. */
function addHooks(deps: Deps, instance: FastifyInstance, books: Bookkeeping, drain: Drain): void {
  instance.decorateRequest('caller', null);
  instance.decorateRequest('identifiedAt', 0);
  instance.decorateRequest('recheck', null);
  instance.decorateRequest('idempotency', null);
  instance.decorateRequest('routeId', 'other');
  instance.decorateRequest('isDownload', false);
  instance.decorateRequest('counted', false);
  instance.addHook('onRequest', (request, reply, done) => {
    if (drain.unused.size > 0) drain.unused.delete(request.raw.socket);
    setCommonHeaders(deps, request, reply);
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) return done(hostMissing());
    if (hasTwoHosts(request.raw.rawHeaders)) return done(hostRepeated());
    // Before the body is read.
    if (request.is404 || lacksAnId(request.params))
      return done(routeNotFound(request.method, pathOf(request)));
    inTurn(request.raw.socket, reply.raw, done);
  });
  instance.addHook('onSend', (request, reply, _payload, done) => {
    // Also for requests that came before the stop: their connections would stay open otherwise.
    if (drain.isDraining) reply.header('connection', 'close');
    keepMetering(request.raw);
    books.answer(request, reply);
    deps.counters.whenSent(done);
  });
  instance.addHook('onResponse', (request, reply, done) => {
    books.end(request, reply);
    done();
  });
  instance.setErrorHandler((error, _request, reply) => sendError(deps, error, reply));
}

function addRoutes(deps: Deps, instance: FastifyInstance): void {
  const bodies = new FairSemaphore('large bodies', { permits: 64, permitsPerOwner: 16, waitMaxMs: 10_000 });
  const readJson = (request: FastifyRequest) =>
    readJsonBody(request.raw, request.routeOptions.bodyLimit ?? jsonBytesMax, (signal) =>
      bodies.acquire(bodyOwner(request), signal),
    );
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('application/json', readJson);
  instance.addContentTypeParser('*', async (_request: FastifyRequest, body: IncomingMessage) =>
    refuseContent(body),
  );
  // In onRequest, before the body: some clients send a content type without a body.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    answerPreflight(deps, request, reply);
  instance.options('*', { onRequest }, async () => null);
  for (const { route, path } of endpoints)
    if (route.optionsHeaders) addOptions(deps, instance, path, route.optionsHeaders(deps.settings));

  const identify = createIdentify(deps);
  for (const endpoint of endpoints)
    if (!endpoint.route.multipart && !endpoint.route.stream) addRoute(instance, deps, identify, endpoint);
  // Separate, so that no other route accepts a form as an empty body. Their handlers read the stream themselves.
  instance.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser('application/json', readJson);
    forms.addContentTypeParser('*', async () => null);
    for (const endpoint of endpoints) if (endpoint.route.multipart) addRoute(forms, deps, identify, endpoint);
  });
  instance.register(async (streams) => {
    streams.removeAllContentTypeParsers();
    streams.addContentTypeParser('*', async () => null);
    for (const endpoint of endpoints) if (endpoint.route.stream) addRoute(streams, deps, identify, endpoint);
  });
}

/**
 * Node and fastify would close every idle connection at once, and lose requests that are on their way. For a short time
 * they are still answered, with `Connection: close`.
 */
async function closeGracefully(deps: Deps, instance: FastifyInstance, drain: Drain): Promise<void> {
  drain.isDraining = true;
  const { server } = instance;
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => undefined;
  const closeIdleAt = Date.now() + lastRequestsMs;
  // Repeatedly: a connection becomes idle when its last answer has been sent, and would stay open for a minute.
  const sweep = setInterval(() => {
    if (Date.now() < closeIdleAt) return;
    closeIdle();
    for (const socket of drain.unused) socket.destroy();
  }, 50);
  const cutOff = setTimeout(() => {
    deps.log.warn({}, 'stopping: closing connections with requests still in flight');
    server.closeAllConnections();
  }, inFlightMsMax);
  await instance.close();
  clearInterval(sweep);
  clearTimeout(cutOff);
}

/** OPTIONS on a path that tells clients what it supports. */
function addOptions(
  deps: Deps,
  instance: FastifyInstance,
  path: string,
  headers: Readonly<Record<string, string>>,
): void {
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    answerPreflight(deps, request, reply.headers(headers));
  instance.options(`${apiPrefix}${path}`, { onRequest }, async () => null);
}

function addRoute(instance: FastifyInstance, deps: Deps, identify: Identify, endpoint: Endpoint): void {
  const { route } = endpoint;
  const pipeline = createPipeline(deps, identify, endpoint);
  instance.route({
    method: route.method,
    url: `${apiPrefix}${endpoint.path}`,
    bodyLimit: route.bodyBytesMax ?? jsonBytesMax,
    ...(route.dialect ? { constraints: { dialect: route.dialect } } : {}),
    onRequest: (request, reply) => {
      request.routeId = route.id;
      return pipeline.authenticate(request, reply);
    },
    handler:
      route.method === 'GET' || route.method === 'HEAD'
        ? pipeline.handle
        : withoutIdleTimeout(pipeline.handle),
  });
}

/** For clients that cannot send PATCH or DELETE. Only where the URL is the permission, and no cookie counts. */
function overrideMethod(raw: IncomingMessage): void {
  const wanted = raw.headers['x-http-method-override'];
  if (wanted === undefined || raw.method !== 'POST' || !raw.url?.startsWith(`${apiPrefix}/uploads/`)) return;
  if (wanted === 'PATCH' || wanted === 'DELETE' || wanted === 'HEAD') raw.method = wanted;
}

/** Node keeps the first Host header, but a proxy in front may have routed by another. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** The router matches `/users/` as a user with an empty id; that is no route of ours. */
function lacksAnId(params: unknown): boolean {
  const given = params as Readonly<Record<string, string>>;
  for (const name in given) if (given[name] === '' && name !== '*') return true;
  return false;
}

/**
 * Disables the socket's idle timeout while a change runs: it may wait for its turn, a lock or the store. Each of these
 * has its own timeout, and the client must receive that error.
 */
const withoutIdleTimeout =
  (handle: Pipeline['handle']): Pipeline['handle'] =>
  async (request, reply) => {
    const { socket } = request.raw;
    const idleMsMax = socket.timeout ?? 0;
    socket.setTimeout(0);
    try {
      return await handle(request, reply);
    } finally {
      socket.setTimeout(idleMsMax);
    }
  };

/** Enough for clients that pipeline to save round trips. */
const aheadMax = 64;
const ahead = new WeakMap<Socket, number>();

/**
 * Requests pipelined on one connection run one after the other, so that few answers wait in memory. More than
 * `aheadMax` waiting requests are refused: Node only stops reading from a socket that has much left to write, and waiting
 * requests write nothing.
 */
function inTurn(socket: Socket, answer: ServerResponse, done: (refusal?: Error) => void): void {
  const waiting = ahead.get(socket) ?? 0;
  if (answer.socket) done();
  else if (waiting >= aheadMax) done(tooFarAhead());
  else {
    ahead.set(socket, waiting + 1);
    answer.once('socket', () => {
      ahead.set(socket, (ahead.get(socket) ?? 1) - 1);
      done();
    });
  }
}

/** Whose share of the memory a body takes. All unauthenticated callers share one: anybody can be many of them. */
function bodyOwner({ caller }: FastifyRequest): string {
  const actor = caller?.actor;
  if (!actor) return 'strangers';
  return actor.kind === 'admin' ? actor.accountId : actor.projectId;
}

/** The client's own id if it is sane, or a new one. */
function chooseRequestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && saneRequestId.test(given) ? given : newId();
}

/** Answers bytes that never became a request. */
function refuseRaw(deps: Deps, socket: Socket, code: string | undefined, requestId: string): void {
  const { status, text } = buildRawRefusal(code, requestId);
  socket.end(text);
  // Stop reading what it still sends.
  socket.pause();
  // This also ends a request in flight on the socket.
  setTimeout(() => socket.destroy(), refusalReadMs).unref();
  deps.log.info({ request_id: requestId, status, code }, 'request');
}

function setCommonHeaders(deps: Deps, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('vary', 'Origin');
  sendCors(reply, globalCors(request.headers.origin, deps.settings.API_CORS_ALLOW_ORIGINS));
  reply.header('cache-control', 'no-store');
  reply.header('x-content-type-options', 'nosniff');
  reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  if (deps.settings.PUBLIC_URL?.startsWith('https:'))
    reply.header('strict-transport-security', 'max-age=31536000');
}

function sendError(deps: Deps, thrown: unknown, reply: FastifyReply): FastifyReply {
  const error = toPakhusError(thrown);
  if (error.status >= 500)
    deps.log.error({ err: error.cause ?? error, request_id: reply.request.id }, error.message);
  reply.headers(error.headers);
  if (error.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(toEnvelope(error));
}

function answerPreflight(deps: Deps, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { allowOrigin, credentials } = preflightCors(
    request.headers.origin,
    deps.settings.API_CORS_ALLOW_ORIGINS,
  );
  const wanted = request.headers['access-control-request-headers'];
  reply.header('access-control-allow-origin', allowOrigin);
  if (credentials) reply.header('access-control-allow-credentials', 'true');
  reply.header('access-control-allow-methods', allowedMethods);
  reply.header('access-control-allow-headers', wanted ?? 'authorization, content-type, x-request-id');
  reply.header('access-control-max-age', 600);
  return reply.code(204).send();
}

/** How long a client may take to read the refusal. */
const refusalReadMs = 2_000;
