// CORS and CSRF: which origins may call and read answers, and which unsafe requests are refused as forged.
import type { FastifyReply } from 'fastify';
import type { Actor } from '../contract/actor.ts';
import type { CorsPolicy } from '../features/credentials/credentials.service.ts';
import { PakhusError } from '../kernel/error.ts';

export interface CorsHeaders {
  readonly allowOrigin: string;
  readonly credentials: boolean;
}

export const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
export const exposedHeaders =
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, Idempotency-Replayed, ETag, Content-Disposition, Content-Range';

const exposeHeader = 'access-control-expose-headers';

/** By API_CORS_ALLOW_ORIGINS, for callers without their own policy. */
export function globalCors(origin: string | undefined, globalOrigins: readonly string[]): CorsHeaders | null {
  if (origin === undefined) return null;
  if (globalOrigins.includes(origin)) return { allowOrigin: origin, credentials: true };
  // Never with credentials: any page could then use a visitor's session.
  return globalOrigins.includes('*') ? { allowOrigin: '*', credentials: false } : null;
}

/** Preflights carry no credential, so all are allowed; the actual request is checked. */
export function preflightCors(origin: string | undefined, globalOrigins: readonly string[]): CorsHeaders {
  if (globalOrigins.includes('*') || origin === undefined) return { allowOrigin: '*', credentials: false };
  return { allowOrigin: origin, credentials: true };
}

/** Throws 403 if an integration key is used from an origin that its integration does not allow. */
export function callerCors(
  origin: string | undefined,
  actor: Actor,
  byCookie: boolean,
  policy: CorsPolicy,
  globalOrigins: readonly string[],
): CorsHeaders | null {
  if (origin !== undefined && actor.kind === 'integration' && !allows(policy, origin)) {
    throw new PakhusError('FORBIDDEN', "This origin is not in the integration's corsOrigins: add it there", {
      details: { origin },
    });
  }
  return policyCors(origin, byCookie, policy, globalOrigins);
}

/** By the credential's own policy, else by API_CORS_ALLOW_ORIGINS. */
export function policyCors(
  origin: string | undefined,
  byCookie: boolean,
  policy: CorsPolicy,
  globalOrigins: readonly string[],
): CorsHeaders | null {
  // Browsers send cookies from any page, so for them only the operator's list counts.
  if (origin !== undefined && !byCookie && allows(policy, origin))
    return { allowOrigin: origin, credentials: true };
  return globalCors(origin, globalOrigins);
}

const allows = ({ devMode, origins }: CorsPolicy, origin: string): boolean =>
  devMode || origins.includes(origin);

export function sendCors(reply: FastifyReply, cors: CorsHeaders | null): void {
  if (!cors) return;
  reply.header('access-control-allow-origin', cors.allowOrigin);
  if (!reply.hasHeader(exposeHeader)) reply.header(exposeHeader, exposedHeaders);
  if (cors.credentials) reply.header('access-control-allow-credentials', 'true');
}

/** Lets pages read more headers than those of every response. */
export function exposeMore(reply: FastifyReply, names: readonly string[]): void {
  reply.header(exposeHeader, [exposedHeaders, ...names].join(', '));
}

/** For routes without credentials. An origin that the operator listed already has its header, with credentials. */
export function allowAnyOrigin(reply: FastifyReply): void {
  if (!reply.hasHeader('access-control-allow-origin')) reply.header('access-control-allow-origin', '*');
}

/** Refuses unsafe requests from pages of other sites. A client that sends neither header is no browser. */
export function refuseCrossSite(
  headers: {
    readonly origin?: string | undefined;
    readonly 'sec-fetch-site'?: string | string[] | undefined;
  },
  ownOrigin: OwnOrigin,
  globalOrigins: readonly string[],
): void {
  const { origin } = headers;
  const foreign = origin !== undefined && !ownOrigin.matches(origin) && !globalOrigins.includes(origin);
  if (foreign || headers['sec-fetch-site'] === 'cross-site') {
    throw new PakhusError(
      'FORBIDDEN',
      "Cross-site request refused: send it from this service's own origin or one in API_CORS_ALLOW_ORIGINS",
    );
  }
}

export interface OwnOrigin {
  readonly url: string;
  matches(origin: string): boolean;
}

/** A host name or address, and a port: anything else must not get into a link. */
const hostPattern = /^[\w.:[\]-]+$/;

/** PUBLIC_URL, or else the request's Host. Either scheme matches then: a proxy may have ended the TLS. */
export function resolveOwnOrigin(
  publicUrl: string | null,
  host: string | undefined,
  forwardedProto: string | undefined,
): OwnOrigin {
  if (publicUrl !== null) {
    const { origin } = new URL(publicUrl);
    return { url: publicUrl, matches: (other) => other === origin };
  }
  const authority = host !== undefined && hostPattern.test(host) ? host : 'localhost';
  const scheme = forwardedProto === 'https' ? 'https' : 'http';
  return {
    url: `${scheme}://${authority}`,
    matches: (other) => other === `http://${authority}` || other === `https://${authority}`,
  };
}
