// Receives bytes of an upload and moves its offset. A connection that is cut loses nothing: what has arrived is kept.
import type { IncomingMessage } from 'node:http';
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { ChecksumAlgorithm } from '../../platform/hashing/digest.ts';
import type { StreamHash } from '../../platform/hashing/stream-hash.ts';
import { PushedBody } from '../../platform/objects/pushed-body.ts';
import type { StagedPart, StagedProgress } from '../../platform/objects/staged-objects.ts';
import { openSideHash, type SideHash } from '../files/files.body-hash.ts';
import { fileTooLarge, largestFile, toRefusal } from '../files/files.checks.ts';
import type { UploadPermit } from '../files/files.permit.ts';
import { parseStorageKey, toStorageKey } from '../objects/objects.key.ts';
import { readBody, withPermit } from './uploads.body.ts';
import { type Claim, takenOver, toStagedObject } from './uploads.claim.ts';
import { badHeader } from './uploads.headers.ts';
import { resumeHash } from './uploads.live.ts';
import { type AdvanceRow, advanceUpload, type ClaimRow } from './uploads.sql.ts';

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly digest: Buffer;
}

export interface Incoming {
  readonly raw: IncomingMessage;
  /** The length of the body; null if it is not known. */
  readonly length: number | null;
  /** The length of the whole file, if this request says it for the first time. */
  readonly size: number | null;
  /** The file ends with this body, however long it is. */
  readonly isEnd: boolean;
  readonly checksum: Checksum | null;
}

export interface ReceivedUpload {
  /** With the new offset. */
  readonly row: ClaimRow;
  /** Of the whole file, if it is complete and this process has seen all of it. The caller closes it. */
  readonly hash: StreamHash | null;
}

/** While a long body arrives, so that a crash costs a few seconds of it. */
const recordEveryMs = 3_000;

export const receive = (deps: Deps, claim: Claim, incoming: Incoming): Promise<ReceivedUpload> =>
  new Receiver(deps, claim, incoming).run();

class Receiver {
  readonly #deps: Deps;
  readonly #row: ClaimRow;
  readonly #tailId: string | null;
  readonly #incoming: Incoming;
  /** As far as it is known. */
  readonly #size: number | null;
  readonly #bytesMax: number;
  readonly #abort = new AbortController();
  #bytes = 0;
  /** Why the body ended before its end, or was not stored. */
  #cut: { readonly reason: unknown } | null = null;
  #isOverrun = false;
  #durable: StagedProgress;
  /** The length of the whole file, as this request says it. */
  #said: number | null;
  /** Of what is durable, the parts that are not recorded yet. */
  #parts: StagedPart[] = [];
  #recordedAt = performance.now();
  /** How far the hash has got, if exactly what is durable was hashed. */
  #hashedBytes: number;

  constructor(deps: Deps, { row, tailId }: Claim, incoming: Incoming) {
    this.#deps = deps;
    this.#row = row;
    this.#tailId = tailId;
    this.#incoming = incoming;
    this.#size = row.size ?? incoming.size;
    this.#said = incoming.size;
    this.#durable = this.#before;
    this.#hashedBytes = row.received;
    const fileMax = Math.min(this.#fileMax, row.received + (row.room ?? Number.POSITIVE_INFINITY));
    this.#bytesMax = (this.#size ?? fileMax) - row.received;
  }

  async run(): Promise<ReceivedUpload> {
    const { id, epoch, received, size } = this.#row;
    const { liveUploads } = this.#deps;
    if (received === size && this.#incoming.length === 0)
      return { row: this.#row, hash: liveUploads.takeHash(id, received) };
    const ended = liveUploads.begin(id, epoch, () => this.#abort.abort(takenOver()));
    const hash = resumeHash(this.#deps, id, received);
    let isHashOver = true;
    try {
      await this.#receive(hash).catch((reason: unknown) => {
        if (!this.#isSteady) this.#dropAll();
        this.#cut ??= { reason };
      });
      const row = await this.#record(true);
      const isWhole = !this.#cut && row.received === row.size;
      isHashOver = this.#hashedBytes !== row.received;
      if (hash && !isWhole && !isHashOver) liveUploads.keepHash(id, row.received, hash);
      if (this.#cut) throw this.#cut.reason;
      return { row, hash: isWhole && !isHashOver ? hash : null };
    } finally {
      if (isHashOver) hash?.close();
      ended();
    }
  }

  async #receive(hash: StreamHash | null): Promise<void> {
    this.#refuseSize();
    if (this.#incoming.length === 0) return;
    const { raw, checksum } = this.#incoming;
    const { project_id: project, space_id, user_id } = this.#row;
    const owner = { project, subject: space_id ?? user_id };
    await withPermit(this.#deps, owner, user_id, raw, this.#abort, async (permit) => {
      const side = checksum && openSideHash(this.#deps.hashing, permit, 'body hash', checksum.algorithm);
      try {
        await this.#store(permit, hash, side);
        await this.#verify(side, checksum);
      } finally {
        side?.close();
      }
    });
  }

  async #store({ gate }: UploadPermit, hash: StreamHash | null, side: SideHash | null): Promise<void> {
    const body = new PushedBody(() => gate.release('file'));
    const cut = (reason: unknown) => {
      this.#cut = { reason };
      body.end();
    };
    const stopReading = readBody(this.#incoming.raw, this.#abort.signal, {
      take: (chunk) => {
        this.#bytes += chunk.length;
        this.#isOverrun = this.#bytes > this.#bytesMax;
        if (this.#isOverrun) {
          cut(this.#explainOverrun());
          return false;
        }
        side?.write(chunk);
        if (!body.push(chunk)) gate.hold('file');
        gate.count(chunk.length);
        return true;
      },
      end: () => body.end(),
      cut,
    });
    try {
      this.#hashedBytes = -1;
      this.#note(await this.#append(body, hash));
      this.#hashedBytes = this.#durable.bytes;
    } finally {
      stopReading();
      body.destroy();
    }
  }

  #append(body: PushedBody, hash: StreamHash | null): Promise<StagedProgress> {
    return this.#deps.objects.staged.append(toStagedObject(this.#row), this.#row.received, body, {
      hash: hash ?? undefined,
      tailKey: this.#keyOf(this.#tailId ?? this.#row.id),
      bytesMax: this.#bytesMax,
      isWhole: (bytes) => !this.#cut && bytes === (this.#size ?? (this.#incoming.isEnd ? bytes : null)),
      onDurable: async (progress) => {
        this.#note(progress);
        if (this.#isSteady && performance.now() - this.#recordedAt > recordEveryMs) await this.#record(false);
      },
    });
  }

  /** A body that is refused, or whose checksum cannot be right any more, leaves nothing behind. */
  async #verify(side: SideHash | null, checksum: Checksum | null): Promise<void> {
    const isBroken = this.#isOverrun || (checksum !== null && this.#cut !== null);
    const isWrong = !isBroken && checksum && side && !(await side.digest()).equals(checksum.digest);
    if (!isBroken && !isWrong) return;
    this.#dropAll();
    throw isWrong ? checksumMismatch() : this.#cut?.reason;
  }

  /** What arrives can be kept at once. A body of unknown length may turn out to be too long, a checksum to be wrong. */
  get #isSteady(): boolean {
    return this.#incoming.length !== null && this.#incoming.checksum === null;
  }

  #note(progress: StagedProgress): void {
    this.#durable = progress;
    this.#parts.push(...progress.parts);
  }

  #dropAll(): void {
    this.#durable = this.#before;
    this.#parts = [];
    this.#said = null;
    this.#hashedBytes = -1;
  }

  async #record(isLast: boolean): Promise<ClaimRow> {
    const { state, bytes, tailKey } = this.#durable;
    const stateTailId = tailKey === undefined ? null : (parseStorageKey(tailKey)?.id ?? null);
    const isWhole = isLast && this.#incoming.isEnd && !this.#cut;
    const size = this.#said ?? (isWhole ? bytes : null);
    const advance = { bytes, size, state, parts: this.#parts, tailId: this.#tailId, stateTailId, isLast };
    const statement = advanceUpload(this.#row, advance, this.#deps.settings.UPLOAD_EXPIRY_SECONDS);
    const [result] = await this.#deps.db.query<AdvanceRow>(statement);
    const { outcome, expires_at } = result as AdvanceRow;
    if (outcome === 'taken') throw takenOver();
    if (outcome !== 'moved') throw toRefusal(outcome);
    this.#parts = [];
    this.#recordedAt = performance.now();
    return {
      ...this.#row,
      received: bytes,
      size: this.#row.size ?? size,
      state,
      tail_id: stateTailId,
      expires_at,
    };
  }

  get #before(): StagedProgress {
    const { state, received, tail_id } = this.#row;
    return {
      state,
      bytes: received,
      parts: [],
      ...(tail_id === null ? {} : { tailKey: this.#keyOf(tail_id) }),
    };
  }

  get #fileMax(): number {
    return largestFile(this.#deps, this.#row.max_file_size);
  }

  #keyOf(id: string): string {
    return toStorageKey({ projectId: this.#row.project_id, id });
  }

  #refuseSize(): void {
    const { size, length } = this.#incoming;
    if (size === null) return;
    const { size: known, received } = this.#row;
    const isTooShort = size < received + (length ?? 0);
    if (known === null ? !isTooShort && size <= this.#fileMax : size === known) return;
    this.#dropAll();
    if (known !== null) throw badHeader('upload-length', `must be ${known}, as was said before`, 'changed');
    throw isTooShort ? tooManyBytes(size) : fileTooLarge(this.#fileMax);
  }

  #explainOverrun(): PakhusError {
    if (this.#size !== null) return tooManyBytes(this.#size);
    return this.#row.received + this.#bytesMax === this.#fileMax
      ? fileTooLarge(this.#fileMax)
      : toRefusal('user limit');
  }
}

export const tooManyBytes = (size: number) =>
  new PakhusError(
    'VALIDATION_ERROR',
    `The upload has ${size} bytes and takes no more: send only what is missing`,
    {
      status: 413,
      details: { issues: [{ path: 'body', message: `must end at byte ${size} of the file`, code: 'size' }] },
    },
  );

/** The status is tus's own. */
const checksumMismatch = () =>
  new PakhusError(
    'VALIDATION_ERROR',
    'The checksum does not match the body, which was dropped: send it again',
    {
      status: 460,
      details: { issues: [{ path: 'upload-checksum', message: 'does not match the body', code: 'digest' }] },
    },
  );
