// Signed S3 requests over undici: addressing, retries, the clock's skew, and limits on silence rather than
// on size. The only file that knows undici; it knows nothing of zones or of what the replies mean.
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type Dispatcher, errors, Pool } from 'undici';
import { lengthOf } from '../../../kernel/bytes.ts';
import {
  createSigner,
  emptyPayloadHash,
  encodePath,
  encodeQuery,
  unsignedPayload,
} from '../../../kernel/crypto/sigv4.ts';
import { outage, PakhusError } from '../../../kernel/error.ts';
import { isDocument, textOf } from './s3-xml.ts';

export interface S3ClientOptions {
  /** Without one: Amazon's own for the region. A path in it is kept before every key. */
  readonly endpoint?: string | undefined;
  /** Where presigned URLs point to, if whoever downloads knows the store by another address. */
  readonly publicEndpoint?: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly forcePathStyle: boolean;
  readonly clock: () => number;
  readonly connectTimeoutMs?: number;
  /** How long the server may be silent, or take no byte, before a try is given up; a retry gets less. */
  readonly idleTimeoutMs?: number;
  readonly triesMax?: number;
  /** Silence is slow to notice, so fewer tries may end that way. */
  readonly idleTriesMax?: number;
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
  /** In pieces, which are kept, so that any try can send them again. */
  readonly body?: readonly Buffer[];
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's own limit. */
  readonly idleTimeoutMs?: number;
  /** The server may work on it for that long without a word, as long as it answers others meanwhile. */
  readonly thinkTimeoutMs?: number;
  readonly triesMax?: number;
  /** Whether a 2xx is the answer that S3 gives to this operation. Any other one counts as a 502. */
  readonly isAnswer: (reply: S3Reply) => boolean;
}

export type S3Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface S3Reply {
  readonly status: number;
  readonly headers: S3Headers;
  /** Empty while the body is still to come. */
  readonly text: string;
}

/** An answer that says no, or that is not S3's. Whatever is thrown and is none of these never got an answer. */
export class S3Fault extends Error {
  override readonly name = 'S3Fault';
  readonly status: number;
  readonly code: string;
  readonly headers: S3Headers;

  constructor(status: number, code: string, headers: S3Headers, message: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

function faultOf({ status, headers, text }: S3Reply): S3Fault {
  if (isPage(headers) || (text.trim() !== '' && !isDocument(text, 'Error')))
    return foreignFault(status, headers);
  const code = textOf(text, 'Code') ?? '';
  const message = `S3 answered ${status} ${code} ${textOf(text, 'Message') ?? ''}`.trimEnd();
  // The server may say 200 before it knows that it fails.
  return new S3Fault(status < 300 ? 500 : status, code, headers, message);
}

/** Somebody between us and the store answered in its place: whatever it says, the store has not said it. */
const foreignFault = (status: number, headers: S3Headers): S3Fault =>
  new S3Fault(
    502,
    '',
    headers,
    `something that is not S3 answered ${status} ${headerOf(headers, 'content-type') ?? 'without a type'}`,
  );

export interface S3Client {
  /** The whole reply, its body read. */
  send(call: S3Call): Promise<S3Reply>;
  /** The reply with its body still to come; the receiver must read or destroy it. */
  open(call: S3Call): Promise<Readable>;
  presignGet(
    bucket: string,
    key: string,
    /** Already encoded. */
    query: string,
    expiresInSeconds: number,
  ): string;
  close(): Promise<void>;
}

type Response = Dispatcher.ResponseData;

interface Place {
  readonly origin: string;
  readonly host: string;
  /** What comes before the key, without a slash at its end. */
  readonly base: string;
}

const replyCharsMax = 8 << 20;
const sliceBytes = 256 << 10;
const skewMsMin = 5 * 60_000;
const passingStatus = new Set([408, 429, 500, 502, 503, 504]);
const passingCode = new Set(['BadDigest', 'InternalError', 'OperationAborted', 'RequestTimeout', 'SlowDown']);
const idleCode = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const silentCode = 'STORE_SILENT';
const finalCode = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED', silentCode]);
/** A retry after silence is for connections that died unnoticed: a living server answers it soon. */
const idleRetryShare = 0.3;

export function createS3Client(options: S3ClientOptions): S3Client {
  const {
    connectTimeoutMs = 3_000,
    idleTimeoutMs = 10_000,
    triesMax = 4,
    idleTriesMax = 2,
    backoffBaseMs = 100,
    backoffMaxMs = 2_000,
    connectionsMax = 256,
  } = options;
  const signer = createSigner(options);
  const pools = new Map<string, Pool>();
  const places = new Map<string, Place>();
  const publicPlaces = options.publicEndpoint === undefined ? places : new Map<string, Place>();
  let skewMs = 0;

  const nowMs = () => options.clock() + skewMs;

  function placeOf(bucket: string): Place {
    return remembered(places, options.endpoint, bucket);
  }

  /** A signature holds for the host that it was made for. */
  function publicPlaceOf(bucket: string): Place {
    return remembered(publicPlaces, options.publicEndpoint ?? options.endpoint, bucket);
  }

  function remembered(known: Map<string, Place>, endpoint: string | undefined, bucket: string): Place {
    let place = known.get(bucket);
    if (!place) {
      place = locate({ ...options, endpoint }, bucket);
      known.set(bucket, place);
    }
    return place;
  }

  function poolOf(origin: string): Pool {
    let pool = pools.get(origin);
    if (!pool) {
      pool = new Pool(origin, { connections: connectionsMax, connect: { timeout: connectTimeoutMs } });
      pools.set(origin, pool);
    }
    return pool;
  }

  function dispatch(call: S3Call, signedAtMs: number, isIdleRetry: boolean): Promise<Response> {
    const place = placeOf(call.bucket);
    const path = call.key === undefined ? place.base || '/' : `${place.base}/${encodePath(call.key)}`;
    const query = call.query ? encodeQuery(call.query) : '';
    const headers = signer.sign({
      method: call.method,
      host: place.host,
      path,
      query,
      headers: call.headers ?? {},
      // The digest of a body travels as Content-MD5, signed with the other headers.
      payloadHash: call.body ? unsignedPayload : emptyPayloadHash,
      nowMs: signedAtMs,
    });
    const patience = call.thinkTimeoutMs ?? call.idleTimeoutMs ?? idleTimeoutMs;
    const idle = isIdleRetry ? patience * idleRetryShare : patience;
    return poolOf(place.origin).request({
      method: call.method,
      path: query ? `${path}?${query}` : path,
      headers: call.body ? { ...headers, 'content-length': String(lengthOf(call.body)) } : headers,
      body: call.body ? wireBody(call.body) : null,
      headersTimeout: idle,
      bodyTimeout: idle,
      ...(call.signal ? { signal: call.signal } : {}),
    });
  }

  /** Gives a call up whose server has gone silent altogether, instead of waiting as long as it may think. */
  async function whileAlive<T>(call: S3Call, work: (call: S3Call) => Promise<T>): Promise<T> {
    if (call.thinkTimeoutMs === undefined) return work(call);
    const silence = new AbortController();
    const probe: S3Call = {
      method: 'HEAD',
      bucket: call.bucket,
      triesMax: 1,
      idleTimeoutMs: idleTimeoutMs * idleRetryShare,
      isAnswer: () => true,
    };
    const look = () =>
      client.send(probe).catch((error: unknown) => {
        if (!(error instanceof S3Fault)) silence.abort(silent(error));
      });
    const timer = setInterval(() => void look(), idleTimeoutMs);
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

  /** Takes the server's time for ours where a refusal shows that the two are far apart. */
  function adoptServerTime(error: unknown, signedAtMs: number): boolean {
    if (!(error instanceof S3Fault) || error.status !== 403) return false;
    const serverMs = Date.parse(headerOf(error.headers, 'date') ?? '');
    if (Number.isNaN(serverMs) || Math.abs(serverMs - signedAtMs) < skewMsMin) return false;
    skewMs = serverMs - options.clock();
    return true;
  }

  async function retrying<T>(call: S3Call, receive: (response: Response) => Promise<T>): Promise<T> {
    const callTriesMax = call.triesMax ?? triesMax;
    let idle = 0;
    let corrected = false;
    for (let tries = 1; ; tries += 1) {
      call.signal?.throwIfAborted();
      const signedAtMs = nowMs();
      try {
        return await whileAlive(call, async (live) => receive(await dispatch(live, signedAtMs, idle > 0)));
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!corrected && adoptServerTime(error, signedAtMs)) {
          corrected = true;
          continue;
        }
        if (idleCode.has(codeOf(error))) idle += 1;
        if (!isPassing(error) || tries >= callTriesMax || idle >= idleTriesMax) throw error;
        const ceiling = Math.min(backoffMaxMs, backoffBaseMs * 2 ** tries);
        await pause(ceiling * (0.5 + Math.random() / 2), call.signal);
      }
    }
  }

  const client: S3Client = {
    send: (call) =>
      retrying(call, async (response) => {
        const { statusCode: status, headers } = response;
        const reply: S3Reply = { status, headers, text: await readText(response) };
        if (status >= 300 || isDocument(reply.text, 'Error')) throw faultOf(reply);
        if (!call.isAnswer(reply)) throw foreignFault(status, headers);
        return reply;
      }),

    open: (call) =>
      retrying(call, async (response) => {
        const { statusCode: status, headers, body } = response;
        if (status >= 300) throw faultOf({ status, headers, text: await readText(response) });
        if (call.isAnswer({ status, headers, text: '' })) return body;
        body.on('error', () => undefined).destroy();
        throw foreignFault(status, headers);
      }),

    presignGet(bucket, key, query, expiresInSeconds) {
      const place = publicPlaceOf(bucket);
      const path = `${place.base}/${encodePath(key)}`;
      const signed = signer.presign({ host: place.host, path, query, expiresInSeconds, nowMs: nowMs() });
      return `${place.origin}${path}?${signed}`;
    },

    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
  return client;
}

const silent = (cause: unknown): Error =>
  Object.assign(new Error('The store answers nobody', { cause }), { code: silentCode });

/** True for an answer that says no and for a connection that failed; false for a mistake of our own. */
export function isStoreFault(error: unknown): boolean {
  if (error instanceof S3Fault) return true;
  if (error instanceof errors.HTTPParserError) return true;
  return !(error instanceof PakhusError) && codeOf(error) !== '' && codeOf(error) !== 'UND_ERR_INVALID_ARG';
}

/** A missing bucket is no missing object: that one must not look like an empty store. */
export function isAbsent(error: unknown): boolean {
  return error instanceof S3Fault && error.status === 404 && error.code !== 'NoSuchBucket';
}

/** Something for people, as proxies and web servers send: S3 says nothing in text but XML. */
export function isPage(headers: S3Headers): boolean {
  const type = headerOf(headers, 'content-type') ?? '';
  return type.startsWith('text/') && !type.startsWith('text/xml');
}

export function headerOf(headers: S3Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function locate(options: S3ClientOptions, bucket: string): Place {
  const url = new URL(options.endpoint ?? `https://s3.${options.region}.amazonaws.com`);
  const prefix = encodePath(decodeURIComponent(url.pathname.replace(/\/+$/, '')));
  if (options.forcePathStyle) {
    return { origin: url.origin, host: url.host, base: `${prefix}/${bucket}` };
  }
  const host = `${bucket}.${url.host}`;
  return { origin: `${url.protocol}//${host}`, host, base: prefix };
}

// A large body goes out in slices: undici then starts its limit anew with each slice that is taken, so that
// a slow line is no time-out, while a dead one is.
function wireBody(body: readonly Buffer[]): Buffer | Readable {
  const [only, ...others] = body;
  return only && others.length === 0 && only.length <= sliceBytes ? only : Readable.from(slicesOf(body));
}

function* slicesOf(body: readonly Buffer[]): Generator<Buffer> {
  for (const piece of body)
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
}

async function readText({ headers, body }: Response): Promise<string> {
  // Most replies are short and say so; undici reads those for half the price of a loop.
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

function isPassing(error: unknown): boolean {
  if (error instanceof S3Fault) return passingStatus.has(error.status) || passingCode.has(error.code);
  return isStoreFault(error) && !finalCode.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
