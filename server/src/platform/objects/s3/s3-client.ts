// Signed S3 requests over undici: retries, clock skew, and timeouts on silence rather than on size. The only file that
// knows undici's pool; it knows nothing of zones or of what the replies mean.
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { lengthOf } from '../../../kernel/bytes.ts';
import {
  createSigner,
  emptyPayloadHash,
  encodePath,
  encodeQuery,
  type Signer,
  unsignedPayload,
} from '../../../kernel/crypto/sigv4.ts';
import { outage } from '../../../kernel/error.ts';
import { type ByteSource, createOpenLarge, type OpenLarge } from './large-get.ts';
import { type EndpointOptions, Endpoints } from './s3-endpoint.ts';
import {
  foreignFault,
  headerOf,
  isIdleTimeout,
  isRetryable,
  S3Fault,
  type S3Headers,
  type S3Reply,
  silentStore,
  toFault,
} from './s3-fault.ts';
import { largeReads } from './s3-sockets.ts';
import { isDocument } from './s3-xml.ts';

export interface S3ClientOptions extends EndpointOptions {
  /** Where presigned URLs point to, if clients reach the store by another address. */
  readonly publicEndpoint?: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly clock: () => number;
  readonly connectTimeoutMs?: number;
  /** How long the server may be silent, or accept no byte, before an attempt is given up; a retry gets less. */
  readonly idleTimeoutMs?: number;
  readonly attemptsMax?: number;
  /** Fewer attempts after a timeout, because each takes long. */
  readonly idleAttemptsMax?: number;
  readonly backoffBaseMs?: number;
  readonly backoffMaxMs?: number;
  readonly connectionsMax?: number;
}

export interface S3Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket: string;
  readonly key?: string;
  readonly query?: readonly (readonly [string, string])[];
  /** Lower-case names; all are signed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Kept, so that a retry can send it again. */
  readonly body?: readonly Buffer[];
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's own timeout. */
  readonly idleTimeoutMs?: number;
  /** How long the server may work without a reply, as long as it answers other requests. */
  readonly thinkTimeoutMs?: number;
  readonly attemptsMax?: number;
  /** The reply is worth a connection of its own: see large-get.ts. */
  readonly isLarge?: boolean;
  /** Whether a 2xx is what S3 sends for this operation. Any other reply counts as a 502. */
  readonly isAnswer: (reply: S3Reply) => boolean;
}

export interface OpenReply {
  readonly headers: S3Headers;
  readonly body: ByteSource;
}

export interface S3Client {
  /** The whole reply, its body read. */
  send(call: S3Call): Promise<S3Reply>;
  /** The reply with its body still to come; the receiver must read or destroy it. */
  open(call: S3Call): Promise<OpenReply>;
  presignGet(
    bucket: string,
    key: string,
    /** Already encoded. */
    query: string,
    expiresInSeconds: number,
  ): string;
  /** For a body of exactly `bytes`. The query is encoded already. */
  presignPut(bucket: string, key: string, query: string, bytes: number, expiresInSeconds: number): string;
  /** Where these URLs point. */
  urlOrigin(bucket: string): string;
  close(): Promise<void>;
}

type Response = Dispatcher.ResponseData;

interface Attempt {
  readonly call: S3Call;
  /** Counted from one. */
  readonly nth: number;
  readonly signedAtMs: number;
  readonly idleMs: number;
}

/** A reply that is not an error, its body still to come. */
interface Received extends OpenReply {
  readonly status: number;
}

const replyCharsMax = 8 << 20;
const sliceBytes = 256 << 10;
const skewMsMin = 5 * 60_000;
/** A retry after a timeout is meant for connections that died unnoticed: a live server answers it soon. */
const idleRetryShare = 0.3;

const defaults = {
  connectTimeoutMs: 3_000,
  idleTimeoutMs: 10_000,
  attemptsMax: 4,
  idleAttemptsMax: 2,
  backoffBaseMs: 100,
  backoffMaxMs: 2_000,
  connectionsMax: 256,
};

export const createS3Client = (options: S3ClientOptions): S3Client => new UndiciS3Client(options);

class UndiciS3Client implements S3Client {
  readonly #options: S3ClientOptions & typeof defaults;
  readonly #signer: Signer;
  readonly #endpoints: Endpoints;
  /** A signature is only valid for the host that it was made for. */
  readonly #publicEndpoints: Endpoints;
  readonly #pools = new Map<string, Pool>();
  readonly #openLarge: OpenLarge;
  #skewMs = 0;

  constructor(options: S3ClientOptions) {
    this.#options = { ...defaults, ...options };
    this.#signer = createSigner(options);
    this.#openLarge = createOpenLarge(this.#options.connectTimeoutMs);
    this.#endpoints = new Endpoints(options);
    this.#publicEndpoints = new Endpoints({
      ...options,
      endpoint: options.publicEndpoint ?? options.endpoint,
    });
  }

  send(call: S3Call): Promise<S3Reply> {
    return this.#retrying(call, async (attempt) => {
      const response = await this.#dispatch(attempt);
      const { statusCode: status, headers } = response;
      const reply: S3Reply = { status, headers, text: await readText(response) };
      if (status >= 300 || isDocument(reply.text, 'Error')) throw toFault(reply);
      if (!call.isAnswer(reply)) throw foreignFault(status, headers);
      return reply;
    });
  }

  open(call: S3Call): Promise<OpenReply> {
    return this.#retrying(call, async (attempt) => {
      const { status, headers, body } =
        (await this.#receiveLarge(attempt)) ?? (await this.#receiveAny(attempt));
      if (call.isAnswer({ status, headers, text: '' })) return { headers, body };
      body.on('error', () => undefined);
      body.destroy();
      throw foreignFault(status, headers);
    });
  }

  presignGet(bucket: string, key: string, query: string, expiresInSeconds: number): string {
    const { origin, host, base } = this.#publicEndpoints.find(bucket);
    const path = `${base}/${encodePath(key)}`;
    const signed = this.#signer.presign({ host, path, query, expiresInSeconds, nowMs: this.#nowMs() });
    return `${origin}${path}?${signed}`;
  }

  urlOrigin(bucket: string): string {
    return this.#publicEndpoints.find(bucket).origin;
  }

  presignPut(bucket: string, key: string, query: string, bytes: number, expiresInSeconds: number): string {
    const { origin, host, base } = this.#publicEndpoints.find(bucket);
    const path = `${base}/${encodePath(key)}`;
    const nowMs = this.#nowMs();
    const signed = this.#signer.presignPut({ host, path, query, bytes, expiresInSeconds, nowMs });
    return `${origin}${path}?${signed}`;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #nowMs(): number {
    return this.#options.clock() + this.#skewMs;
  }

  async #retrying<T>(call: S3Call, work: (attempt: Attempt) => Promise<T>): Promise<T> {
    const attemptsMax = call.attemptsMax ?? this.#options.attemptsMax;
    const timeoutMs = call.thinkTimeoutMs ?? call.idleTimeoutMs ?? this.#options.idleTimeoutMs;
    let idle = 0;
    let isSkewCorrected = false;
    for (let nth = 1; ; nth += 1) {
      call.signal?.throwIfAborted();
      const signedAtMs = this.#nowMs();
      const idleMs = idle > 0 ? timeoutMs * idleRetryShare : timeoutMs;
      try {
        return await this.#whileAlive(call, (live) => work({ call: live, nth, signedAtMs, idleMs }));
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!isSkewCorrected && this.#adoptServerTime(error, signedAtMs)) {
          isSkewCorrected = true;
          continue;
        }
        if (isIdleTimeout(error)) idle += 1;
        if (!isRetryable(error) || nth >= attemptsMax || idle >= this.#options.idleAttemptsMax) throw error;
        await this.#backOff(nth, call.signal);
      }
    }
  }

  #dispatch({ call, signedAtMs, idleMs }: Attempt): Promise<Response> {
    const { origin, path, headers } = this.#sign(call, signedAtMs);
    return this.#poolFor(origin).request({
      method: call.method,
      path,
      headers: call.body ? { ...headers, 'content-length': String(lengthOf(call.body)) } : headers,
      body: call.body ? toWireBody(call.body) : null,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      // Otherwise undici closes the connection after every HEAD.
      reset: false,
      ...(call.signal ? { signal: call.signal } : {}),
    });
  }

  async #receiveAny(attempt: Attempt): Promise<Received> {
    const response = await this.#dispatch(attempt);
    const { statusCode: status, headers, body } = response;
    if (status >= 300) throw toFault({ status, headers, text: await readText(response) });
    return { status, headers, body };
  }

  /** Null if it must be received in the usual way. */
  async #receiveLarge({ call, nth, signedAtMs, idleMs }: Attempt): Promise<Received | null> {
    if (!call.isLarge || nth > 1) return null;
    return this.#openLarge({ ...this.#sign(call, signedAtMs), idleMs, signal: call.signal });
  }

  #sign(call: S3Call, nowMs: number) {
    const { origin, host, base } = this.#endpoints.find(call.bucket);
    const path = call.key === undefined ? base || '/' : `${base}/${encodePath(call.key)}`;
    const query = call.query ? encodeQuery(call.query) : '';
    const headers = this.#signer.sign({
      method: call.method,
      host,
      path,
      query,
      headers: call.headers ?? {},
      // The digest of a body is sent as Content-MD5, signed with the other headers.
      payloadHash: call.body ? unsignedPayload : emptyPayloadHash,
      nowMs,
    });
    return { origin, path: query ? `${path}?${query}` : path, headers };
  }

  #poolFor(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (!pool) {
      const { connectionsMax, connectTimeoutMs } = this.#options;
      const connect = { timeout: connectTimeoutMs, onread: largeReads };
      pool = new Pool(origin, { connections: connectionsMax, connect });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** Gives up a long call if the server has stopped answering altogether, before its own timeout ends it. */
  async #whileAlive<T>(call: S3Call, work: (call: S3Call) => Promise<T>): Promise<T> {
    if (call.thinkTimeoutMs === undefined) return work(call);
    const silence = new AbortController();
    const probe = () =>
      this.#probe(call.bucket).catch((error: unknown) => {
        if (!(error instanceof S3Fault)) silence.abort(silentStore(error));
      });
    const timer = setInterval(() => void probe(), this.#options.idleTimeoutMs);
    try {
      const signal = call.signal ? AbortSignal.any([call.signal, silence.signal]) : silence.signal;
      return await work({ ...call, signal });
    } catch (error) {
      call.signal?.throwIfAborted();
      silence.signal.throwIfAborted();
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  #probe(bucket: string): Promise<S3Reply> {
    const idleTimeoutMs = this.#options.idleTimeoutMs * idleRetryShare;
    return this.send({ method: 'HEAD', bucket, attemptsMax: 1, idleTimeoutMs, isAnswer: () => true });
  }

  /** Adopts the server's time if a refusal shows that the clocks are far apart. */
  #adoptServerTime(error: unknown, signedAtMs: number): boolean {
    if (!(error instanceof S3Fault) || error.status !== 403) return false;
    const serverMs = Date.parse(headerOf(error.headers, 'date') ?? '');
    if (Number.isNaN(serverMs) || Math.abs(serverMs - signedAtMs) < skewMsMin) return false;
    this.#skewMs = serverMs - this.#options.clock();
    return true;
  }

  async #backOff(attempt: number, signal?: AbortSignal): Promise<void> {
    const { backoffBaseMs, backoffMaxMs } = this.#options;
    const ceilingMs = Math.min(backoffMaxMs, backoffBaseMs * 2 ** attempt);
    try {
      await delay(ceilingMs * (0.5 + Math.random() / 2), undefined, signal ? { signal } : {});
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }
}

// A large body goes out in slices: undici restarts its timeout with each slice that is taken, so a slow line does not
// time out, but a dead one does.
function toWireBody(body: readonly Buffer[]): Buffer | Readable {
  const [only, ...others] = body;
  return only && others.length === 0 && only.length <= sliceBytes ? only : Readable.from(slicesOf(body));
}

function* slicesOf(body: readonly Buffer[]): Generator<Buffer> {
  for (const piece of body)
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
}

async function readText({ headers, body }: Response): Promise<string> {
  // Fast path for short replies of known length: undici reads them at half the cost of a loop.
  if (Number(headers['content-length']) <= sliceBytes) return body.text();
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop early destroys the body, and with it the socket.
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > replyCharsMax) throw outage('storage', 'The object store answered with more than a reply');
  }
  return length === 0 ? '' : Buffer.concat(chunks).toString('utf8');
}
