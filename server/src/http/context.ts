// The context of a handler. Most handlers use little of it, so that costly parts (addresses, the audit stamp) are computed
// on access.
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Actor, attributionOf } from '../contract/actor.ts';
import type { AuditStamp } from '../contract/audit.ts';
import type { Call } from '../contract/call.ts';
import type { Deps } from '../contract/deps.ts';
import type { IdempotentCall } from '../contract/idempotency.ts';
import type { Context, Route, RouteShape } from '../contract/route.ts';
import type { Scope } from '../contract/scope.ts';
import type { Subject } from '../contract/subject.ts';
import type { CorsPolicy } from '../features/credentials/credentials.service.ts';
import type { Device } from '../kernel/crypto/device-cookie.ts';
import { authorizeScope } from './authorize.ts';
import { clientAddress, toIpAddress, toNetwork } from './client-address.ts';
import {
  allowAnyOrigin,
  exposeMore,
  type OwnOrigin,
  policyCors,
  resolveOwnOrigin,
  sendCors,
} from './cors.ts';
import { deviceCookie, deviceCookieName, readCookie, sessionCookie } from './credential.ts';

export const findAddress = (deps: Deps, request: FastifyRequest): string =>
  clientAddress(request.headers, request.socket.remoteAddress, deps.settings.TRUST_PROXY_HOPS);

/**
 * For fair queueing. Without trusted proxies, the network of the socket, then the address that the client claims. A client
 * that claims none takes its turn before those that do.
 */
export function findAddresses(deps: Deps, request: FastifyRequest): readonly [string, ...string[]] {
  const address = findAddress(deps, request);
  if (deps.settings.TRUST_PROXY_HOPS !== null) return [toNetwork(address)];
  const own = request.socket.remoteAddress ?? 'unknown';
  return address === own ? [toNetwork(own)] : [toNetwork(own), address];
}

export const readDevice = (deps: Deps, { headers }: FastifyRequest): Device | null => {
  const cookie = readCookie(headers.cookie, deviceCookieName);
  return cookie === null ? null : deps.devices.read(cookie);
};

export const ownOrigin = (deps: Deps, { headers }: FastifyRequest): OwnOrigin =>
  resolveOwnOrigin(
    deps.settings.PUBLIC_URL,
    headers.host,
    headers['x-forwarded-proto'] as string | undefined,
  );

const userAgentMax = 512;

export class RequestCall implements Call {
  readonly #deps: Deps;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(deps: Deps, request: FastifyRequest, reply: FastifyReply) {
    this.#deps = deps;
    this.#request = request;
    this.#reply = reply;
  }

  get requestId(): string {
    return this.#request.id;
  }

  get ipAddress(): string | null {
    return toIpAddress(findAddress(this.#deps, this.#request));
  }

  get addresses(): readonly string[] {
    return findAddresses(this.#deps, this.#request);
  }

  get device(): Device | null {
    return readDevice(this.#deps, this.#request);
  }

  get userAgent(): string | null {
    return this.#request.headers['user-agent']?.slice(0, userAgentMax) ?? null;
  }

  get origin(): string {
    return ownOrigin(this.#deps, this.#request).url;
  }

  get headers(): IncomingMessage['headers'] {
    return this.#request.headers;
  }

  get raw(): IncomingMessage {
    return this.#request.raw;
  }

  get idempotency(): IdempotentCall | null {
    return this.#request.idempotency;
  }

  setHeader(name: string, value: string | number): void {
    this.#reply.header(name, value);
  }

  allowOrigins(policy: CorsPolicy): void {
    const { origin } = this.#request.headers;
    sendCors(this.#reply, policyCors(origin, false, policy, this.#deps.settings.API_CORS_ALLOW_ORIGINS));
  }

  exposeHeaders(names: readonly string[]): void {
    if (this.#request.headers.origin !== undefined) exposeMore(this.#reply, names);
  }

  sendInterim(status: number, reason: string, headers: Readonly<Record<string, string>>): void {
    // HTTP/1.0 has no interim responses.
    if (this.#request.raw.httpVersion !== '1.1') return;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#request.raw.socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n`);
  }

  allowAnyOrigin(): void {
    allowAnyOrigin(this.#reply);
  }

  countDownload(): void {
    this.#request.isDownload = true;
  }

  recheckCredential(): Promise<void> {
    return this.#request.recheck?.() ?? Promise.resolve();
  }

  requireScope(scope: Scope): void {
    const { caller, id } = this.#request;
    const actor = caller?.actor;
    if (actor)
      authorizeScope(actor, { actors: [], scope }, this.#deps.settings.SCOPE_ENFORCEMENT, id, this.#deps.log);
  }

  setStatus(status: number): void {
    this.#reply.code(status);
  }

  setDeviceCookie(cookie: string): void {
    this.setHeader('set-cookie', deviceCookie(cookie, this.origin.startsWith('https:')));
  }

  setSessionCookie(token: string | null, expiresAtMs = 0): void {
    const maxAgeSeconds = Math.max(0, Math.ceil((expiresAtMs - this.#deps.clock()) / 1000));
    this.setHeader('set-cookie', sessionCookie(token, maxAgeSeconds, this.origin.startsWith('https:')));
  }
}

const unattributed = { actorType: 'project', actorId: null, actorKeyId: null } as const;

interface Given {
  readonly actor: Actor | null;
  readonly subject: Subject | null;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown> | null;
}

export class HandlerContext implements Record<keyof Context<RouteShape>, unknown> {
  readonly #route: Route;
  readonly deps: Deps;
  readonly actor: Actor | null;
  readonly user: Subject | null;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown> | null;
  readonly call: Call;

  constructor(deps: Deps, route: Route, request: FastifyRequest, reply: FastifyReply, given: Given) {
    this.#route = route;
    this.deps = deps;
    this.actor = given.actor;
    this.user = given.subject;
    this.params = given.params;
    this.query = given.query;
    this.body = given.body;
    this.call = new RequestCall(deps, request, reply);
  }

  get audit(): AuditStamp {
    const { actor, call } = this;
    const action = this.#route.audit;
    if (action === null) throw new Error(`${this.#route.id} has no audited action`);
    const { actorType, actorId, actorKeyId } = actor ? attributionOf(actor) : unattributed;
    return {
      action,
      projectId: actor && 'projectId' in actor ? actor.projectId : null,
      actorType,
      actorId,
      actorKeyId,
      ipAddress: call.ipAddress,
      userAgent: call.userAgent,
    };
  }
}
