// The way of a request through a route: CORS, credential, rate, authority; then the body is read; then
// validation and the handler. Whoever is not let in has made the service read no body, and is told nothing of
// what a route expects.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../contract/actor.ts';
import type { Deps } from '../contract/deps.ts';
import { userNotFound } from '../contract/refusals.ts';
import { type GuardedAccess, isPublic, needsBody, type Route } from '../contract/route.ts';
import { Serialized } from '../contract/serialized.ts';
import type { Subject } from '../contract/subject.ts';
import { type Caller, corsBehind, unauthorized } from '../features/credentials/credentials.service.ts';
import type { Identify, SubjectPath } from '../features/credentials/credentials.together.ts';
import { looksLikeApiKey } from '../kernel/crypto/secret.ts';
import { invalid, PakhusError } from '../kernel/error.ts';
import { isUuid } from '../kernel/id.ts';
import { isStorableText } from '../kernel/text/text.ts';
import { bodyValidator, parameterValidator, type Validator } from '../platform/validation.ts';
import { authorizeActor, authorizeScope, refuseForeignSubject } from './authorize.ts';
import { addressesOf, addressOf, deviceOf, HandlerContext, ownOrigin, RequestCall } from './context.ts';
import { callerCors, policyCors, refuseForgery, sendCors } from './cors.ts';
import { type PresentedCredential, presentedCredential } from './credential.ts';
import { bodyMissing } from './error-reply.ts';
import { limitDevices, limitIntegration, limitLogin, limitSocket } from './rate-limit.ts';
import type { Endpoint, SubjectBy } from './route-table.ts';

/** What the first half of the way found out, kept on the request for the second half and for the log. */
export interface Admission {
  readonly actor: Actor | null;
  readonly subject: Subject | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the caller is known; a guard may still refuse it. */
    admission: Admission | null;
    /** By `performance.now()`. */
    admittedAt: number;
    /** Of a multipart route, whose body arrives after it was let in. */
    readmit: (() => Promise<void>) | null;
  }
}

const stranger: Admission = { actor: null, subject: null };

export interface Pipeline {
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

const unsafeMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function pipelineOf(deps: Deps, identify: Identify, { route, subjectBy }: Endpoint): Pipeline {
  const validateParams = route.params && parameterValidator(route.params);
  const validateQuery = route.query && parameterValidator(route.query);
  const validateBody = route.body && !route.multipart ? bodyValidator(route.body) : undefined;
  const bodyIsNeeded = !route.multipart && needsBody(route);
  const isChange = unsafeMethods.has(route.method);
  const readmit = (request: FastifyRequest) => readmitCaller(deps, identify, route, subjectBy, request);

  return {
    admit: (request, reply) => admitCaller(deps, identify, route, subjectBy, request, reply),
    async handle(request, reply) {
      if (isChange) await readmit(request);
      if (route.multipart) request.readmit = () => readmit(request);
      const { actor, subject } = request.admission ?? stranger;
      const params = validated(request.params, validateParams);
      const query = validated(request.query, validateQuery);
      const isEmpty = request.body === undefined;
      const body = validateBody ? validated(isEmpty ? {} : request.body, validateBody) : null;
      if (isEmpty && bodyIsNeeded) throw bodyMissing();
      const context = new HandlerContext(deps, route, request, reply, {
        actor,
        subject,
        params,
        query,
        body,
      });
      reply.code(route.returns.status);
      const answer = await route.handle(context as never);
      if (!(answer instanceof Serialized)) return answer;
      return reply.type('application/json; charset=utf-8').serializer(asItIs).send(answer.json);
    },
  };
}

/** Notes on the request who it is, once that is known, and throws where a guard refuses. */
async function admitCaller(
  deps: Deps,
  identify: Identify,
  route: Route,
  subjectBy: SubjectBy,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { headers, method } = request;
  const globalOrigins = deps.settings.API_CORS_ALLOW_ORIGINS;
  const unsafe = unsafeMethods.has(method);
  if (unsafe && route.csrf === 'always') refuseForgery(headers, ownOrigin(deps, request), globalOrigins);
  if (route.rateLimit === 'login') await limitAttempt(deps, request, reply);
  if (isPublic(route.access)) {
    request.admission = stranger;
    return;
  }

  const credential = presentedCredential(headers);
  if (credential === null) throw unauthorized();
  if (unsafe && credential.byCookie) refuseForgery(headers, ownOrigin(deps, request), globalOrigins);
  const subjectPath = subjectPathOf(request, subjectBy);
  let caller: Caller;
  try {
    caller = await identify(credential.value, subjectPath);
  } catch (error) {
    return refuse(deps, route, credential, error, request, reply);
  }
  admitted(request, caller);
  sendCors(reply, callerCors(headers.origin, caller.actor, credential.byCookie, caller.cors, globalOrigins));
  if (caller.rate && route.rateLimit === 'integration') await limitIntegration(deps, caller.rate, reply);
  authorize(deps, route.access, subjectBy, caller, request);
}

async function limitAttempt(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await limitLogin(deps, addressOf(deps, request), reply);
  const device = deviceOf(deps, request);
  if (device) await limitDevices(deps, device);
  else if (deps.settings.TRUST_PROXY_HOPS === null) await limitSocket(deps, addressesOf(deps, request)[0]);
}

function authorize(
  deps: Deps,
  access: GuardedAccess,
  subjectBy: SubjectBy,
  { actor, subject }: Caller,
  request: FastifyRequest,
): void {
  authorizeActor(actor, access);
  if (subjectBy) refuseForeignSubject(actor, subject);
  authorizeScope(actor, access, deps.settings.SCOPE_ENFORCEMENT, request.id, deps.log);
  if (subjectBy) requireSubject(request, subjectBy, subject);
}

function admitted(request: FastifyRequest, caller: Caller): void {
  request.admission = caller;
  request.admittedAt = performance.now();
}

const freshMs = 100;

/** A request whose body took its time is not let to change what its credential may not touch any more. */
async function readmitCaller(
  deps: Deps,
  identify: Identify,
  route: Route,
  subjectBy: SubjectBy,
  request: FastifyRequest,
): Promise<void> {
  if (isPublic(route.access) || performance.now() - request.admittedAt < freshMs) return;
  const credential = presentedCredential(request.headers);
  if (credential === null) throw unauthorized();
  const caller = await identify(credential.value, subjectPathOf(request, subjectBy));
  authorize(deps, route.access, subjectBy, caller, request);
  admitted(request, caller);
}

/** Of a credential that is not good, or no longer: the page that sent it may read why. */
async function refuse(
  deps: Deps,
  route: Route,
  { value, byCookie }: PresentedCredential,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<never> {
  if (!(error instanceof PakhusError) || error.status >= 500) throw error;
  const { origin } = request.headers;
  // A dead cookie would go before every token that is sent with it.
  if (byCookie && route.endsSession) new RequestCall(deps, request, reply).setSessionCookie(null);
  // A key that is gone has left nothing to look up.
  const isLost = looksLikeApiKey(value) && error.status === 401;
  if (origin !== undefined && !byCookie && !isLost) {
    const policy = await corsBehind(deps, value);
    sendCors(reply, policyCors(origin, byCookie, policy, deps.settings.API_CORS_ALLOW_ORIGINS));
  }
  throw error;
}

/** Null also for an id that no user can have; `requireSubject` says so, after the caller is known. */
function subjectPathOf(request: FastifyRequest, subjectBy: SubjectBy): SubjectPath {
  const { userId, externalId } = request.params as { userId?: string; externalId?: string };
  if (subjectBy === 'userId') return isUuid(userId) ? { by: subjectBy, name: userId } : null;
  if (subjectBy !== 'externalId' || !externalId || !isStorableText(externalId)) return null;
  return { by: subjectBy, name: externalId };
}

function requireSubject(request: FastifyRequest, subjectBy: SubjectBy, subject: Subject | null): void {
  if (subject) return;
  if (subjectBy === 'userId' && subjectPathOf(request, subjectBy) === null) {
    throw invalid(400, [{ path: 'userId', message: 'must be a UUID', code: 'format' }]);
  }
  throw userNotFound();
}

const asItIs = (json: unknown): string => json as string;

function validated(given: unknown, validate: Validator | undefined): Record<string, unknown> {
  if (!validate) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(422, [{ path: 'body', message: 'must be a JSON object', code: 'type' }]);
  }
  // A copy without a prototype's surprises; query objects of the parser have none at all.
  const fields = { ...given } as Record<string, unknown>;
  validate(fields);
  return fields;
}
