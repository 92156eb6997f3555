// Requests with an Idempotency-Key: reads the header, tells the content of JSON bodies, and sends kept answers again.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../contract/actor.ts';
import type { Deps } from '../contract/deps.ts';
import type { Route } from '../contract/route.ts';
import { Serialized } from '../contract/serialized.ts';
import { type Answer, IdempotentRequest, Replay } from '../features/idempotency/idempotency.service.ts';
import { sha256 } from '../kernel/crypto/secret.ts';
import { invalid } from '../kernel/error.ts';
import { Type } from '../kernel/schema.ts';
import { canonicalJson } from '../kernel/text/canonical-json.ts';
import { pathOf } from './bookkeeping.ts';
import { toEnvelope, toPakhusError } from './error-reply.ts';

export const IdempotencyHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: '^[!-~]{1,255}$',
      description:
        'Makes the request safe to repeat for 24 hours: a repetition with the same key and content changes nothing and gets the same answer. Choose a new random key for every new thing to create.',
      examples: ['0b6d5c1e-6a43-4b0e-9c1a-6f1f0f2d9a77'],
    }),
  ),
});

export const ReplayedHeaders = Type.Object({
  'Idempotency-Replayed': Type.Optional(
    Type.Literal('true', {
      description: 'This is the answer to an earlier request with the same Idempotency-Key.',
    }),
  ),
});

export const RepeatHeaders = Type.Object({
  'Retry-After': Type.Optional(
    Type.Integer({
      description: 'Only while the first request with this Idempotency-Key is being worked on.',
      examples: [1],
    }),
  ),
});

export const idempotencyHeader = 'idempotency-key';
export const replayedHeader = 'idempotency-replayed';

export const isIdempotent = (route: Route, { headers }: FastifyRequest): boolean =>
  route.idempotent === true && headers[idempotencyHeader] !== undefined;

/** Answers once: by `answer`, or as the first request with this key was answered. */
export async function answerOnce(
  deps: Deps,
  route: Route,
  actor: Actor,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: (deps: Deps) => Promise<unknown>,
): Promise<Serialized> {
  const name = { method: request.method, path: pathOf(request), key: parseKey(request) };
  const once = await IdempotentRequest.begin(deps, actor, name);
  request.idempotency = once;
  try {
    if (!route.multipart) once.setContent(sha256(canonicalJson(request.body ?? null)));
    const work = async (joined: Deps) => toAnswer(reply, await answer(joined));
    return new Serialized((await once.answer(work, toRefusal)).body);
  } catch (error) {
    if (!(error instanceof Replay)) throw error;
    const { status, body } = error.answer;
    reply.code(status).header(replayedHeader, 'true');
    return new Serialized(body);
  } finally {
    await once.release();
  }
}

const visible = /^[\x21-\x7e]{1,255}$/;

function parseKey({ headers }: FastifyRequest): string {
  const key = headers[idempotencyHeader];
  if (typeof key === 'string' && visible.test(key)) return key;
  const message = 'must be 1 to 255 visible ASCII characters, sent once';
  throw invalid(400, [{ path: idempotencyHeader, message, code: 'pattern' }]);
}

const toAnswer = ({ statusCode }: FastifyReply, answer: unknown): Answer => ({
  status: statusCode,
  body: answer instanceof Serialized ? answer.json : JSON.stringify(answer),
});

/** What another credential, or the same request later, may be granted is not kept. */
const notKept: ReadonlySet<number> = new Set([401, 403, 429]);

function toRefusal(thrown: unknown): Answer | null {
  const error = toPakhusError(thrown);
  if (error.status >= 500 || notKept.has(error.status)) return null;
  return { status: error.status, body: JSON.stringify(toEnvelope(error)) };
}
