// The HTTP server: hooks that hold for every response, the routes of the table, and the pages.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { createIdentify, type Identify } from '../features/credentials/credentials.together.ts';
import { newId } from '../kernel/id.ts';
import { FairSemaphore } from '../platform/concurrency/fair-semaphore.ts';
import { createBookkeeping, pathOf } from './bookkeeping.ts';
import { keepMetering, meterChunks } from './chunk-meter.ts';
import { allowedMethods, globalCors, preflightCors, sendCors } from './cors.ts';
import {
  envelopeOf,
  hostMissing,
  hostRepeated,
  rawRefusal,
  routeNotFound,
  tooFarAhead,
  toPakhusError,
} from './error-reply.ts';
import { readJsonBody, refuseContent } from './json-body.ts';
import { serveOpenApi } from './openapi.ts';
import { servePages } from './pages.ts';
import { type Pipeline, pipelineOf } from './pipeline.ts';
import { apiPrefix, type Endpoint, endpoints, isAuthRoute } from './route-table.ts';

export interface HttpServer {
  readonly instance: FastifyInstance;
  /** Resolves to the base URL. */
  listen(host: string, port: number): Promise<string>;
  close(): Promise<void>;
}

/** Leaves what comes after the last answer, audit rows and counts, some of the half minute that a stop may take. */
const inFlightMsMax = 25_000;

/** How long connections that are kept alive are answered after the service has begun to stop. */
const lastRequestsMs = 250;

/** Bounds of JSON bodies. Strangers may send to /auth, where nothing needs more than an e-mail and a password. */
const jsonBytesMax = 1024 * 1024;
const authBytesMax = 16 * 1024;

const saneRequestId = /^[\w.:/+=-]{1,128}$/;

export function createHttpServer(deps: Deps): HttpServer {
  const books = createBookkeeping(deps);
  const instance = fastify({
    logger: false,
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false },
    bodyLimit: jsonBytesMax,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      // The request never reached the hooks.
      setCommonHeaders(deps, request, reply);
      sendError(deps, error, reply);
      books.end(request, reply);
    },
    clientErrorHandler: (error, socket) => {
      if (socket instanceof Socket && socket.writable)
        refuseRaw(deps, socket, (error as NodeJS.ErrnoException).code, newId());
      else socket.destroy();
    },
    // Honest large uploads take longer than any limit on the whole; idle sockets are cut instead.
    requestTimeout: 0,
    connectionTimeout: 60_000,
    keepAliveTimeout: 65_000,
    // Node would answer a missing Host by itself, without the envelope.
    http: { headersTimeout: 20_000, maxHeaderSize: 16 * 1024, requireHostHeader: false },
  });
  let draining = false;
  /** Connections on which no request has come yet: the server does not count them among the idle ones. */
  const unused = new Set<Socket>();
  instance.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  instance.server.prependListener('request', (raw: IncomingMessage, answer: ServerResponse) =>
    meterChunks(raw, () => {
      // An answer that has begun, or whose turn has not come, cannot be replaced.
      if (answer.headersSent || !answer.socket) raw.socket.destroy();
      else refuseRaw(deps, raw.socket, 'CHUNKS', requestIdOf(raw));
    }),
  );
  instance.server.on('checkExpectation', (raw: IncomingMessage) =>
    refuseRaw(deps, raw.socket, 'EXPECTATION', requestIdOf(raw)),
  );

  instance.decorateRequest('admission', null);
  instance.decorateRequest('admittedAt', 0);
  instance.decorateRequest('readmit', null);
  instance.decorateRequest('routeId', 'other');
  instance.decorateRequest('isDownload', false);
  instance.decorateRequest('counted', false);
  // These await nothing: as async functions they would cost every request a promise each.
  instance.addHook('onRequest', (request, reply, done) => {
    if (unused.size > 0) unused.delete(request.raw.socket);
    setCommonHeaders(deps, request, reply);
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) return done(hostMissing());
    if (hasTwoHosts(request.raw.rawHeaders)) return done(hostRepeated());
    // Before a body is read for nothing.
    if (request.is404 || lacksAnId(request.params))
      return done(routeNotFound(request.method, pathOf(request)));
    inTurn(request.raw.socket, reply.raw, done);
  });
  instance.addHook('onSend', (request, reply, _payload, done) => {
    // Also on answers to requests that came before the stop: an idle connection is hung up on.
    if (draining) reply.header('connection', 'close');
    keepMetering(request.raw);
    books.answer(request, reply);
    deps.counters.whenSent(done);
  });
  instance.addHook('onResponse', (request, reply, done) => {
    books.end(request, reply);
    done();
  });
  instance.setErrorHandler((error, _request, reply) => sendError(deps, error, reply));
  const bodies = new FairSemaphore('large bodies', { permits: 64, permitsPerOwner: 16, waitMaxMs: 10_000 });
  const readJson = (request: FastifyRequest) =>
    readJsonBody(request.raw, request.routeOptions.bodyLimit ?? jsonBytesMax, (signal) =>
      bodies.acquire(ownerOf(request), signal),
    );
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('application/json', readJson);
  instance.addContentTypeParser('*', async (_request: FastifyRequest, body: IncomingMessage) =>
    refuseContent(body),
  );
  // Answered before a body could be looked for: some clients name the type of the one that they do not send.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    answerPreflight(deps, request, reply);
  instance.options('*', { onRequest }, async () => null);

  const identify = createIdentify(deps);
  for (const endpoint of endpoints)
    if (!endpoint.route.multipart) addRoute(instance, deps, identify, endpoint);
  // Apart, so that no other route takes a form for an empty body. Their handlers read the stream themselves.
  instance.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser('application/json', readJson);
    forms.addContentTypeParser('*', async () => null);
    for (const endpoint of endpoints) if (endpoint.route.multipart) addRoute(forms, deps, identify, endpoint);
  });
  serveOpenApi(instance, deps.version);
  servePages(instance, deps.version);

  return {
    instance,
    listen: (host, port) => instance.listen({ host, port }),
    async close() {
      draining = true;
      const { server } = instance;
      const hangUpIdle = server.closeIdleConnections.bind(server);
      // Node and fastify would hang up on every idle connection at once, and so on requests that are on their way
      // over one. For a moment they are still answered, and told that the connection ends with the answer.
      server.closeIdleConnections = () => undefined;
      const leaveAt = Date.now() + lastRequestsMs;
      // A connection whose last answer was under way just now is kept alive by its client: it is idle from then
      // on, and nothing would end it for a minute.
      const hangUp = setInterval(() => {
        if (Date.now() < leaveAt) return;
        hangUpIdle();
        for (const socket of unused) socket.destroy();
      }, 50);
      const cutOff = setTimeout(() => {
        deps.log.warn({}, 'what is still in flight is cut off');
        server.closeAllConnections();
      }, inFlightMsMax);
      await instance.close();
      clearInterval(hangUp);
      clearTimeout(cutOff);
    },
  };
}

function addRoute(instance: FastifyInstance, deps: Deps, identify: Identify, endpoint: Endpoint): void {
  const { route } = endpoint;
  const pipeline = pipelineOf(deps, identify, endpoint);
  instance.route({
    method: route.method,
    url: `${apiPrefix}${endpoint.path}`,
    bodyLimit: isAuthRoute(route) ? authBytesMax : jsonBytesMax,
    onRequest: (request, reply) => {
      request.routeId = route.id;
      return pipeline.admit(request, reply);
    },
    handler: route.method === 'GET' ? pipeline.handle : patiently(pipeline.handle),
  });
}

/** Node keeps the first one and drops the others, which a proxy in front may have gone by. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** The router takes `/users/` for a user without an id, which is no route of ours. */
function lacksAnId(params: unknown): boolean {
  const given = params as Readonly<Record<string, string>>;
  for (const name in given) if (given[name] === '' && name !== '*') return true;
  return false;
}

/**
 * A change may take longer than a connection may be quiet, while it waits for its turn, for a lock or for the store:
 * each has limits of its own, and whoever is refused by them is to hear it.
 */
const patiently =
  (handle: Pipeline['handle']): Pipeline['handle'] =>
  async (request, reply) => {
    const { socket } = request.raw;
    const quietMsMax = socket.timeout ?? 0;
    socket.setTimeout(0);
    try {
      return await handle(request, reply);
    } finally {
      socket.setTimeout(quietMsMax);
    }
  };

/** Enough for whoever sends ahead to save time. */
const aheadMax = 64;
const ahead = new WeakMap<Socket, number>();

/**
 * A client may send requests ahead of their answers. A connection is one caller: the next is worked on when the one
 * before has its answer, which leaves little to be kept until then. Beyond `aheadMax` there is no waiting: requests
 * that wait write nothing, and Node stops reading from a connection only when there is much to be written to it.
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

/** On whose behalf a body is kept. All strangers are one: nobody knows how many they are. */
function ownerOf({ admission }: FastifyRequest): string {
  const actor = admission?.actor;
  if (!actor) return 'strangers';
  return actor.kind === 'admin' ? actor.accountId : actor.projectId;
}

/** A sane one that the client has chosen, or a new one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && saneRequestId.test(given) ? given : newId();
}

/** The answer to bytes that never became a request. */
function refuseRaw(deps: Deps, socket: Socket, code: string | undefined, requestId: string): void {
  const { status, text } = rawRefusal(code, requestId);
  socket.end(text);
  // What it still sends is not read.
  socket.pause();
  // With it goes the request that was under way, if there was one.
  setTimeout(() => socket.destroy(), refusalPatienceMs).unref();
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
    .send(envelopeOf(error));
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

/** How long a client may take to read why its bytes are no request. */
const refusalPatienceMs = 2_000;
