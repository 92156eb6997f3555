// The facts of one HTTP request that a handler may need, without the HTTP framework.
import type { IncomingMessage } from 'node:http';
import type { Device } from '../kernel/crypto/device-cookie.ts';

export interface Call {
  readonly requestId: string;
  /** Of the client, for the record; null where what is claimed is no address. */
  readonly ipAddress: string | null;
  /** Where it comes from, for whoever takes turns by it: what cannot be forged first, what the client claims last. */
  readonly addresses: readonly string[];
  readonly userAgent: string | null;
  /** Where this service is reached: PUBLIC_URL, or what the request's Host says. */
  readonly origin: string;
  readonly headers: IncomingMessage['headers'];
  /** The body of a multipart route. */
  readonly raw: IncomingMessage;
  setHeader(name: string, value: string | number): void;
  /** Lets pages of every origin read the answer. */
  allowAnyOrigin(): void;
  /** Sets the session cookie, or clears it. */
  setSessionCookie(token: string | null, expiresAtMs?: number): void;
  /** The browser that calls, as far as its cookie is one of ours; the account says whether it is still good. */
  readonly device: Device | null;
  setDeviceCookie(cookie: string): void;
  /** Counts the request as a download as well. */
  countDownload(): void;
  /** Throws where the credential has ended since the request was let in, which may be long ago when its body is slow. */
  assertCredentialActive(): Promise<void>;
  /** Answers with a status of its own, where the shape's does not fit. */
  setStatus(status: number): void;
}
