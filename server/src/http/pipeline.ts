// The steps of a request: CORS, credential, rate limit, authorization; then the body, validation and the handler. A
// request that is refused early costs no reading of its body, and learns nothing of the route's schema.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../contract/actor.ts';
import type { Deps } from '../contract/deps.ts';
import type { IdempotentCall } from '../contract/idempotency.ts';
import { userNotFound } from '../contract/refusals.ts';
import { type GuardedAccess, isPublic, needsBody, type Route } from '../contract/route.ts';
import { Serialized } from '../contract/serialized.ts';
import type { Subject } from '../contract/subject.ts';
import { type Caller, findCorsPolicy, unauthorized } from '../features/credentials/credentials.service.ts';
import type { Identify, SubjectPath } from '../features/credentials/credentials.together.ts';
import { looksLikeApiKey } from '../kernel/crypto/secret.ts';
import { invalid, PakhusError } from '../kernel/error.ts';
import { isUuid } from '../kernel/id.ts';
import { isStorableText } from '../kernel/text/text.ts';
import { bodyValidator, parameterValidator, type Validator } from '../platform/validation.ts';
import { authorizeActor, authorizeScope, refuseForeignSubject } from './authorize.ts';
import { findAddress, findAddresses, HandlerContext, ownOrigin, RequestCall, readDevice } from './context.ts';
import { callerCors, policyCors, refuseCrossSite, sendCors } from './cors.ts';
import { findCredential, type PresentedCredential } from './credential.ts';
import { bodyMissing } from './error-reply.ts';
import { answerOnce, isIdempotent } from './idempotency.ts';
import { limitDevices, limitIntegration, limitLogin, limitSocket } from './rate-limit.ts';
import type { Endpoint, SubjectBy } from './route-table.ts';

/** Who calls, and the end-user that the path names: for the handler and the log. */
export interface RequestCaller {
  readonly actor: Actor | null;
  readonly subject: Subject | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the caller is identified; a guard may still refuse it. */
    caller: RequestCaller | null;
    /** When, by `performance.now()`. */
    identifiedAt: number;
    /** Set for a request with an Idempotency-Key. */
    idempotency: IdempotentCall | null;
    /** Checks the credential again. Only on routes whose body arrives, or whose answer ends, long after the first check. */
    recheck: (() => Promise<void>) | null;
  }
}

const stranger: RequestCaller = { actor: null, subject: null };

export interface Pipeline {
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

const unsafeMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function createPipeline(deps: Deps, identify: Identify, { route, subjectBy }: Endpoint): Pipeline {
  const validateParams = route.params && parameterValidator(route.params);
  const validateQuery = route.query && parameterValidator(route.query);
  const readsStream = route.multipart === true || route.stream !== undefined;
  const validateBody = route.body && !readsStream ? bodyValidator(route.body) : undefined;
  const staysOpen = route.returns.contentType === 'text/event-stream';
  const bodyIsNeeded = !readsStream && needsBody(route);
  const isChange = unsafeMethods.has(route.method);
  const recheck = (request: FastifyRequest) => recheckCaller(deps, identify, route, subjectBy, request);

  // Not async: the extra promise would cost every request.
  const answerBy = (theDeps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { actor, subject } = request.caller ?? stranger;
    const params = validated(request.params, validateParams);
    const query = validated(request.query, validateQuery);
    const isEmpty = request.body === undefined;
    const body = validateBody ? validated(isEmpty ? {} : request.body, validateBody) : null;
    if (isEmpty && bodyIsNeeded) throw bodyMissing();
    const given = { actor, subject, params, query, body };
    reply.code(route.returns.status);
    return route.handle(new HandlerContext(theDeps, route, request, reply, given) as never);
  };

  return {
    authenticate: (request, reply) => authenticate(deps, identify, route, subjectBy, request, reply),
    async handle(request, reply) {
      if (isChange) await recheck(request);
      if (readsStream || staysOpen) request.recheck = () => recheck(request);
      const actor = request.caller?.actor;
      const answer = await (actor && isIdempotent(route, request)
        ? answerOnce(deps, route, actor, request, reply, async (joined) => answerBy(joined, request, reply))
        : answerBy(deps, request, reply));
      if (!(answer instanceof Serialized)) return answer;
      return reply.type('application/json; charset=utf-8').serializer(passThrough).send(answer.json);
    },
  };
}

/** Sets `request.caller` as soon as it is known; throws if a guard refuses. */
async function authenticate(
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
  if (unsafe && route.csrf === 'always') refuseCrossSite(headers, ownOrigin(deps, request), globalOrigins);
  if (route.rateLimit === 'login') await limitAttempt(deps, request, reply);
  if (isPublic(route.access)) {
    request.caller = stranger;
    return;
  }

  const credential = findCredential(headers);
  if (credential === null) throw unauthorized();
  if (unsafe && credential.byCookie) refuseCrossSite(headers, ownOrigin(deps, request), globalOrigins);
  const subjectPath = parseSubjectPath(request, subjectBy);
  let caller: Caller;
  try {
    caller = await identify(credential.value, subjectPath);
  } catch (error) {
    return refuseCredential(deps, route, credential, error, request, reply);
  }
  setCaller(request, caller);
  sendCors(reply, callerCors(headers.origin, caller.actor, credential.byCookie, caller.cors, globalOrigins));
  if (caller.rate && route.rateLimit === 'integration') await limitIntegration(deps, caller.rate, reply);
  authorize(deps, route.access, subjectBy, caller, request);
}

async function limitAttempt(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await limitLogin(deps, findAddress(deps, request), reply);
  const device = readDevice(deps, request);
  if (device) await limitDevices(deps, device);
  else if (deps.settings.TRUST_PROXY_HOPS === null) await limitSocket(deps, findAddresses(deps, request)[0]);
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

function setCaller(request: FastifyRequest, caller: Caller): void {
  request.caller = caller;
  request.identifiedAt = performance.now();
}

const freshMs = 100;

/** The credential may have been revoked while a slow body arrived. */
async function recheckCaller(
  deps: Deps,
  identify: Identify,
  route: Route,
  subjectBy: SubjectBy,
  request: FastifyRequest,
): Promise<void> {
  if (isPublic(route.access) || performance.now() - request.identifiedAt < freshMs) return;
  const credential = findCredential(request.headers);
  if (credential === null) throw unauthorized();
  const caller = await identify(credential.value, parseSubjectPath(request, subjectBy));
  authorize(deps, route.access, subjectBy, caller, request);
  setCaller(request, caller);
}

/** Rethrows, with CORS headers where they let the page that sent a bad credential read the error. */
async function refuseCredential(
  deps: Deps,
  route: Route,
  { value, byCookie }: PresentedCredential,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<never> {
  if (!(error instanceof PakhusError) || error.status >= 500) throw error;
  const { origin } = request.headers;
  // A dead cookie would take precedence over any token sent with it.
  if (byCookie && route.endsSession) new RequestCall(deps, request, reply).setSessionCookie(null);
  // Nothing can be looked up for a key that no longer exists.
  const isUnknownKey = looksLikeApiKey(value) && error.status === 401;
  if (origin !== undefined && !byCookie && !isUnknownKey) {
    const policy = await findCorsPolicy(deps, value);
    sendCors(reply, policyCors(origin, byCookie, policy, deps.settings.API_CORS_ALLOW_ORIGINS));
  }
  throw error;
}

/** Null also for a malformed id: `requireSubject` reports it once the caller is known. */
function parseSubjectPath(request: FastifyRequest, subjectBy: SubjectBy): SubjectPath {
  const { userId, externalId } = request.params as { userId?: string; externalId?: string };
  if (subjectBy === 'userId') return isUuid(userId) ? { by: subjectBy, name: userId } : null;
  if (subjectBy !== 'externalId' || !externalId || !isStorableText(externalId)) return null;
  return { by: subjectBy, name: externalId };
}

function requireSubject(request: FastifyRequest, subjectBy: SubjectBy, subject: Subject | null): void {
  if (subject) return;
  if (subjectBy === 'userId' && parseSubjectPath(request, subjectBy) === null) {
    throw invalid(400, [{ path: 'userId', message: 'must be a UUID', code: 'format' }]);
  }
  throw userNotFound();
}

const passThrough = (json: unknown): string => json as string;

function validated(given: unknown, validate: Validator | undefined): Record<string, unknown> {
  if (!validate) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(422, [{ path: 'body', message: 'must be a JSON object', code: 'type' }]);
  }
  // A plain copy: the query parser's objects have no prototype.
  const fields = { ...given } as Record<string, unknown>;
  validate(fields);
  return fields;
}
