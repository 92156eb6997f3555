// Counts, logs and measures every request.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { countRequest } from '../features/traffic/traffic.count.ts';
import { latencyBounds, type Metrics, type Observations } from '../platform/metrics.ts';
import { allowedMethods } from './cors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The route's id, or `other` if no route matched. */
    routeId: string;
    /** It returned the URL of a file. */
    isDownload: boolean;
    /** It has been counted. */
    counted: boolean;
  }
}

export interface Bookkeeping {
  /** Before the answer is sent, so that a client that has its answer has been counted. */
  answer(request: FastifyRequest, reply: FastifyReply): void;
  /** After the answer has been sent. */
  end(request: FastifyRequest, reply: FastifyReply): void;
}

export function createBookkeeping(deps: Deps): Bookkeeping {
  const measure = latencyMeter(deps.metrics);
  return {
    answer: (request, reply) => count(deps, request, reply),
    end(request, reply) {
      if (!request.raw.complete) limitUnreadBody(request);
      logRequest(deps, request, reply);
      measure(request, reply);
    },
  };
}

/** Only once, even if sending fails and an error is sent instead. */
function count(deps: Deps, request: FastifyRequest, { statusCode }: FastifyReply): void {
  const { caller, counted, isDownload } = request;
  if (counted || !caller?.actor) return;
  request.counted = true;
  countRequest(deps, caller.actor, caller.subject?.id ?? null, {
    failed: statusCode >= 400,
    isDownload,
  });
}

const knownMethods: ReadonlySet<string> = new Set(allowedMethods.split(', '));

/** Labelled by route id: paths contain ids, which would make an unbounded number of series. */
function latencyMeter(metrics: Metrics): (request: FastifyRequest, reply: FastifyReply) => void {
  const latency = metrics.histogram(
    'pakhus_http_request_seconds',
    'Time from a request to the end of its answer.',
    latencyBounds,
  );
  /** By route, method and status class. Nested, because building a combined key costs more. */
  const kept = new Map<string, Map<string, Observations[]>>();
  return ({ routeId, method: given }, { statusCode, elapsedTime }) => {
    const method = knownMethods.has(given) ? given : 'other';
    const hundreds = Math.floor(statusCode / 100);
    const ofRoute = kept.get(routeId) ?? new Map<string, Observations[]>();
    const ofMethod = ofRoute.get(method) ?? [];
    let observations = ofMethod[hundreds];
    if (!observations) {
      observations = latency.labelled({ route: routeId, method, status: `${hundreds}xx` });
      ofMethod[hundreds] = observations;
      kept.set(routeId, ofRoute.set(method, ofMethod));
    }
    observations.observe(elapsedTime / 1000);
  };
}

const unreadBodyMs = 10_000;

/** A client that was answered early may still be sending its body; it gets a deadline. */
function limitUnreadBody({ raw }: FastifyRequest): void {
  setTimeout(() => raw.complete || raw.destroy(), unreadBodyMs).unref();
}

function logRequest(deps: Deps, request: FastifyRequest, reply: FastifyReply): void {
  const actor = request.caller?.actor;
  deps.log.request({
    requestId: request.id,
    method: request.method,
    path: pathOf(request),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    actor: actor?.kind,
    projectId: actor && 'projectId' in actor ? actor.projectId : undefined,
  });
}

/** Without the query, which holds the signature of a signed URL, and without the secret in the URL of an upload or a share. */
export function pathOf({ url }: FastifyRequest): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  if (shareUrl.test(path)) return path.replace(shareUrl, '$1-');
  if (path.length <= secretLength || !mayHoldSecret.test(path)) return path;
  return path.replace(uploadUrl, '$1-').replace(secret, '-');
}

const secretLength = 43;
/** All of it: a secret that was cut or garbled on its way is easily guessed. */
const uploadUrl = /^(\/api\/v1\/+uploads\/).+/i;
const shareUrl = /^(\/+s\/+)[^/]+/i;
/** As long as the secret, and percent-encoded characters: nobody has to encode, but anybody may. */
const secret = /(?:[\w-]|%[0-9a-f]{2}){43,}/gi;
const mayHoldSecret = /upload|%/i;
