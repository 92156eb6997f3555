// The facts of one HTTP request that a handler may need, without the HTTP framework.
import type { IncomingMessage } from 'node:http';
import type { Device } from '../kernel/crypto/device-cookie.ts';
import type { IdempotentCall } from './idempotency.ts';
import type { Scope } from './scope.ts';

export interface Call {
  readonly requestId: string;
  /** The client's address for the audit log; null if a header claims something that is no address. */
  readonly ipAddress: string | null;
  /** For fair queueing, least forgeable first: the network of the socket, then what the client claims. */
  readonly addresses: readonly string[];
  readonly userAgent: string | null;
  /** The URL of this service: PUBLIC_URL, or the request's Host. */
  readonly origin: string;
  readonly headers: IncomingMessage['headers'];
  /** The body of a route that reads it from the stream. */
  readonly raw: IncomingMessage;
  /** Null without an Idempotency-Key. */
  readonly idempotency: IdempotentCall | null;
  setHeader(name: string, value: string | number): void;
  /** Lets pages of other origins read these headers, besides those of every response. */
  exposeHeaders(names: readonly string[]): void;
  /** Lets pages read the answer as the policy of an integration says, else by API_CORS_ALLOW_ORIGINS. */
  allowOrigins(policy: { readonly origins: readonly string[]; readonly devMode: boolean }): void;
  /** Sends an interim response now, before the answer. */
  sendInterim(status: number, reason: string, headers: Readonly<Record<string, string>>): void;
  /** Lets pages from any origin read the answer. */
  allowAnyOrigin(): void;
  /** Sets the session cookie, or clears it. */
  setSessionCookie(token: string | null, expiresAtMs?: number): void;
  /** From a valid device cookie; the account decides whether it still trusts the device. */
  readonly device: Device | null;
  setDeviceCookie(cookie: string): void;
  /** Also counts the request as a download. */
  countDownload(): void;
  /** Throws if the credential has been revoked since the request began, which may be long ago if its body is slow. */
  recheckCredential(): Promise<void>;
  /** For a route whose body decides which scope it needs. Throws if the credential lacks it. */
  requireScope(scope: Scope): void;
  /** Overrides the status that the route declares. */
  setStatus(status: number): void;
}
