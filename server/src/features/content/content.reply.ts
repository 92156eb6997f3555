// Answers with bytes of any source: whole, a range, several ranges, or only what is to be known about them. Headers keep
// browsers from running any of it.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { ByteRange } from '../../kernel/media/byte-range.ts';
import { contentDisposition, type Disposition } from '../../kernel/media/media-type.ts';
import { ClientGone } from '../../platform/forms/form-reader.ts';
import { planReply, type Refuse, type ReplyPlan, type Version } from './content.plan.ts';
import { type FileContent, isContentGone, openContent } from './content.source.ts';

export interface ByteSource extends Version {
  readonly contentType: string;
  readonly contentDisposition: string;
  /** Of all bytes, in hex; null if it is not known. */
  readonly sha256: string | null;
  /** A range within the bytes. NOT_FOUND if the source has changed since it was found: then it is found again. */
  open(range: ByteRange, signal: AbortSignal): Promise<Readable>;
}

/** The content of a file as a source. */
export const toByteSource = (deps: Deps, content: FileContent, wish?: Disposition): ByteSource => ({
  bytes: content.bytes,
  etag: content.etag,
  modifiedAt: content.modifiedAt,
  contentType: content.contentType,
  contentDisposition: contentDisposition(content.name, content.contentType, wish),
  sha256: content.sha256,
  open: (range, signal) => openContent(deps, content, range, signal),
});

export interface Delivery {
  find(): Promise<ByteSource>;
  /** Which sites may embed it. `cross-origin` only if the URL is the permission. */
  readonly embeddedBy: 'same-origin' | 'cross-origin';
  readonly cacheControl?: string;
  /** Those of the request, unless they are given. */
  readonly headers?: Call['headers'];
  /**
   * Runs when the bytes are there and before any of them is sent; not for HEAD and 304. If it throws, none is sent. It may
   * return an ETag to send instead of that of the source.
   */
  readonly beforeBytes?: (plan: ReplyPlan, source: ByteSource) => Promise<string> | undefined;
  readonly refuseVersion?: Refuse;
}

/** A file that is being moved or compressed may be missed once, hardly ever twice. */
const attemptsMax = 3;

export async function replyWithBytes(call: Call, delivery: Delivery): Promise<Readable> {
  for (let attempt = 1; ; attempt += 1) {
    const source = await delivery.find();
    const plan = planReply(call.raw.method, delivery.headers ?? call.headers, source, delivery.refuseVersion);
    try {
      const body = await openBody(call, source, plan);
      const etag = await approve(delivery, plan, source, body, call);
      setHeaders(call, { ...source, etag: etag ?? source.etag }, delivery);
      return announce(call, source, plan, body);
    } catch (error) {
      if (attempt === attemptsMax || !(error instanceof SourceGone)) throw unwrap(error);
    }
  }
}

/** Tells a source that is gone from a refusal by `beforeBytes`, which may be a NOT_FOUND too. */
class SourceGone extends Error {}

const unwrap = (error: unknown): unknown => (error instanceof SourceGone ? error.cause : error);

/** The first range is opened before the answer begins, so that a failure can still be told. */
async function openBody(call: Call, source: ByteSource, { ranges }: ReplyPlan): Promise<Readable | null> {
  const [first] = ranges;
  if (!first) return null;
  try {
    return await whileConnected(call, (signal) => source.open(first, signal));
  } catch (error) {
    throw isContentGone(error) ? new SourceGone('gone', { cause: error }) : error;
  }
}

async function approve(
  { beforeBytes }: Delivery,
  plan: ReplyPlan,
  source: ByteSource,
  body: Readable | null,
  call: Call,
): Promise<string | undefined> {
  if (plan.status === 304 || call.raw.method === 'HEAD') return undefined;
  try {
    return await beforeBytes?.(plan, source);
  } catch (error) {
    body?.on('error', () => undefined).destroy();
    throw error;
  }
}

/** The signal aborts when the client disconnects, until the stream has closed. */
async function whileConnected(
  { raw: { socket } }: Call,
  open: (signal: AbortSignal) => Promise<Readable>,
): Promise<Readable> {
  const gone = new AbortController();
  const onClose = () => gone.abort(new ClientGone());
  socket.once('close', onClose);
  try {
    if (socket.destroyed) onClose();
    const body = await open(gone.signal);
    return body.once('close', () => socket.off('close', onClose));
  } catch (error) {
    socket.off('close', onClose);
    throw error;
  }
}

function setHeaders(call: Call, source: ByteSource, { embeddedBy, cacheControl }: Delivery): void {
  call.setHeader('content-type', source.contentType);
  call.setHeader('content-disposition', source.contentDisposition);
  call.setHeader('etag', source.etag);
  call.setHeader('last-modified', source.modifiedAt.toUTCString());
  call.setHeader('accept-ranges', 'bytes');
  if (source.sha256 !== null)
    call.setHeader('repr-digest', `sha-256=:${Buffer.from(source.sha256, 'hex').toString('base64')}:`);
  call.setHeader('cache-control', cacheControl ?? 'private, no-cache');
  call.setHeader('content-security-policy', "sandbox; default-src 'none'");
  call.setHeader('cross-origin-resource-policy', embeddedBy);
  // A link in the file must not leak the URL, which may be the permission, in its referrer.
  call.setHeader('referrer-policy', 'no-referrer');
}

/** A stream, because the framework would set Content-Length to 0 for an empty buffer. */
export const noBody = (): Readable => Readable.from([]);

function announce(call: Call, source: ByteSource, plan: ReplyPlan, body: Readable | null): Readable {
  const { status, ranges } = plan;
  call.setStatus(status);
  const [only, ...others] = ranges;
  if (status === 206 && only && body && others.length > 0) return sendParts(call, source, ranges, body);
  if (status === 206 && only) call.setHeader('content-range', contentRange(only, source));
  if (status === 200) call.setHeader('content-length', source.bytes);
  else if (only) call.setHeader('content-length', lengthOf(only));
  return body ?? noBody();
}

const lengthOf = ({ start, end }: ByteRange): number => end - start + 1;

const contentRange = ({ start, end }: ByteRange, { bytes }: Version): string =>
  `bytes ${start}-${end}/${bytes}`;

/** As multipart/byteranges. */
function sendParts(call: Call, source: ByteSource, ranges: readonly ByteRange[], first: Readable): Readable {
  const boundary = randomBytes(18).toString('base64url');
  const heads = ranges.map((range) =>
    Buffer.from(
      `\r\n--${boundary}\r\nContent-Type: ${source.contentType}\r\nContent-Range: ${contentRange(range, source)}\r\n\r\n`,
    ),
  );
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  const bytes = ranges.reduce(
    (sum, range, at) => sum + lengthOf(range) + (heads[at]?.length ?? 0),
    end.length,
  );
  call.setHeader('content-type', `multipart/byteranges; boundary=${boundary}`);
  call.setHeader('content-length', bytes);
  async function* parts(): AsyncGenerator<Buffer> {
    for (const [at, range] of ranges.entries()) {
      yield heads[at] as Buffer;
      yield* at === 0 ? first : await whileConnected(call, (signal) => source.open(range, signal));
    }
    yield end;
  }
  // A generator that was never started closes nothing.
  return Readable.from(parts(), { objectMode: false }).once('close', () => first.destroy());
}
