// Which pages of which origins may call, and which unsafe requests a browser may not be tricked into.
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
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, Content-Disposition, Content-Range';

/** What the operator's own list says, for callers that bring no policy. */
export function globalCors(origin: string | undefined, globalOrigins: readonly string[]): CorsHeaders | null {
  if (origin === undefined) return null;
  if (globalOrigins.includes(origin)) return { allowOrigin: origin, credentials: true };
  // Credentials together with every origin would open sessions to every page.
  return globalOrigins.includes('*') ? { allowOrigin: '*', credentials: false } : null;
}

/** Preflights carry no credential, so they cannot be judged by one: the real request is. */
export function preflightCors(origin: string | undefined, globalOrigins: readonly string[]): CorsHeaders {
  if (globalOrigins.includes('*') || origin === undefined) return { allowOrigin: '*', credentials: false };
  return { allowOrigin: origin, credentials: true };
}

/** Throws 403 for an integration key whose integration does not allow the origin. */
export function callerCors(
  origin: string | undefined,
  actor: Actor,
  byCookie: boolean,
  policy: CorsPolicy,
  globalOrigins: readonly string[],
): CorsHeaders | null {
  if (origin !== undefined && actor.kind === 'integration' && !allows(policy, origin)) {
    throw new PakhusError(
      'FORBIDDEN',
      'This origin is not among the corsOrigins of the integration: add it there',
      {
        details: { origin },
      },
    );
  }
  return policyCors(origin, byCookie, policy, globalOrigins);
}

/** What the policy behind a credential says, and where it says nothing, the operator's list. */
export function policyCors(
  origin: string | undefined,
  byCookie: boolean,
  policy: CorsPolicy,
  globalOrigins: readonly string[],
): CorsHeaders | null {
  // A cookie travels by itself, so only the operator can vouch for the page that made it travel.
  if (origin !== undefined && !byCookie && allows(policy, origin))
    return { allowOrigin: origin, credentials: true };
  return globalCors(origin, globalOrigins);
}

const allows = ({ devMode, origins }: CorsPolicy, origin: string): boolean =>
  devMode || origins.includes(origin);

export function sendCors(reply: FastifyReply, cors: CorsHeaders | null): void {
  if (!cors) return;
  reply.header('access-control-allow-origin', cors.allowOrigin);
  reply.header('access-control-expose-headers', exposedHeaders);
  if (cors.credentials) reply.header('access-control-allow-credentials', 'true');
}

/** For what needs no credential. A page that the operator has listed is told so by name, and with credentials, already. */
export function allowAnyOrigin(reply: FastifyReply): void {
  if (!reply.hasHeader('access-control-allow-origin')) reply.header('access-control-allow-origin', '*');
}

/** Refuses what another site's page makes a browser send. A client without these headers is no browser. */
export function refuseForgery(
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

/** A name or an address, and a port: nothing else is printed as a part of a link. */
const hostPattern = /^[\w.:[\]-]+$/;

/** PUBLIC_URL where it is set; otherwise what the request was addressed to, whatever ended its TLS. */
export function ownOriginOf(
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
