// One upload, from the first byte of the form to the committed row. The object is reserved in the ledger before any byte
// is stored, and the commit of the row marks it as stored: a crash at any point leaves at most an orphan for the reaper,
// never a row without its object.
import type { IncomingMessage } from 'node:http';
import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { CommitResult, FileRow, FileValues, NewFile } from '../../contract/file.ts';
import type { HeldObject } from '../../contract/object-ref.ts';
import type { Subject } from '../../contract/subject.ts';
import { outage, PakhusError } from '../../kernel/error.ts';
import { isUuid } from '../../kernel/id.ts';
import type { Claim, Room } from '../../platform/concurrency/bytes-in-flight.ts';
import {
  type FilePart,
  type FormFields,
  type FormShape,
  formBytesMax,
  readForm,
  type TakeFile,
} from '../../platform/forms/form-reader.ts';
import { type ContentDigest, splitContentDigest } from '../../platform/hashing/digest.ts';
import type { Body, PutOptions, Zone } from '../../platform/objects/object-store.ts';
import type { PushedBody } from '../../platform/objects/pushed-body.ts';
import type { Validator } from '../../platform/validation.ts';
import { whileWriting } from '../objects/objects.hold.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { removeRefused, waitForRemoval } from '../objects/objects.remove.ts';
import { countFor } from '../traffic/traffic.count.ts';
import { hashBody, hashedPart, openFileHash, type SideHash } from './files.body-hash.ts';
import {
  type FileFacts,
  findRefusedType,
  gatherFacts,
  largestFile,
  refuseSize,
  refuseType,
  roomLeft,
  toRefusal,
  toRoom,
  verifyDigests,
} from './files.checks.ts';
import { refuseKeeping } from './files.keeping.ts';
import { gatherFields, isFieldName, mergeValues, noValues } from './files.meta.ts';
import { buildObjectMeta, zoneFor } from './files.objects.ts';
import { bufferedBytesMax, declaredBytes, UploadPermit } from './files.permit.ts';
import { Intake, type ReceivedFile, wholeBytesMax } from './files.receive.ts';
import { digestForm, digestRepeated } from './files.repeated.ts';
import { refuseAbsentSpace } from './files.service.ts';
import { findRoom, type RoomRow } from './files.sql.ts';
import { watchClient } from './files.watch.ts';
import type { FileMetaInput } from './files.wire.ts';

export interface UploadInput extends FileMetaInput {
  readonly space_id?: string | null;
  readonly sha256?: string;
}

/** How one kind of upload differs from another. */
export interface UploadKind<Input extends UploadInput> {
  readonly fileField: string;
  readonly fieldNames: readonly string[];
  /** The numeric ones among `fieldNames`. */
  readonly numberFields?: readonly string[];
  readonly validate: Validator;
  /** The types accepted here, such as `image/*`; empty for all. */
  readonly types: readonly string[];
  commit(deps: Deps, file: NewFile, input: Input, audit: AuditStamp): Promise<CommitResult>;
}

/** The state of one upload, including the objects it must remove if it fails. */
interface Attempt {
  readonly deps: Deps;
  readonly projectId: string;
  readonly user: Subject;
  readonly permit: UploadPermit;
  /** Objects that the store has confirmed. */
  readonly written: Set<HeldObject>;
  /** Aborts the upload when the client hangs up or something fails. */
  readonly abort: AbortController;
  readonly bodyHash: SideHash | null;
  /** With an Idempotency-Key: also of a file that is refused, so that the refusal can be kept. */
  readonly fileHash: SideHash | null;
  /** The write of a large file, in flight while the form is read. */
  streaming: Promise<unknown>;
  /** A commit is in flight or its outcome is unknown: the objects may belong to a row by now. */
  committing: boolean;
  /** The room left when it was last read. Only an early check: the commit decides. */
  room: Room;
  /** The share of that room reserved for a large file. */
  claim: Claim | null;
}

export async function uploadFile<Input extends UploadInput>(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  kind: UploadKind<Input>,
  call: Call,
  audit: AuditStamp,
): Promise<FileRow> {
  if (!user.active) throw toRefusal('inactive user');
  const abort = new AbortController();
  const stopWatching = watchClient(call.raw, abort);
  try {
    const owner = { project: actor.projectId, subject: pinnedSpaceOf(actor) ?? user.id };
    const permit = await UploadPermit.acquire(deps, owner, user.id, call.raw, abort);
    try {
      if (call.idempotency?.isRepeated)
        call.idempotency.setContent(await digestRepeated(deps, shapeOf(kind), call, permit));
      const attempt: Attempt = {
        deps,
        projectId: actor.projectId,
        user,
        permit,
        written: new Set(),
        abort,
        bodyHash: hashBody(call, deps.hashing, permit),
        fileHash: call.idempotency && openFileHash(deps.hashing, permit),
        streaming: Promise.resolve(),
        committing: false,
        room: toRoom(user),
        claim: null,
      };
      return await cleanUpOnFailure(attempt, () => receiveAndStore(attempt, actor, kind, call, audit));
    } finally {
      permit.release();
    }
  } finally {
    stopWatching();
  }
}

async function cleanUpOnFailure<Result>(attempt: Attempt, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    attempt.abort.abort();
    await attempt.streaming.catch(() => undefined);
    // Only confirmed writes are removed. A failed write may still land, so its ledger entry stays for the reaper.
    if (!attempt.committing)
      for (const object of attempt.written) await waitForRemoval(removeRefused(attempt.deps, object));
    throw error;
  } finally {
    attempt.claim?.release();
    attempt.bodyHash?.close();
    attempt.fileHash?.close();
  }
}

async function receiveAndStore<Input extends UploadInput>(
  attempt: Attempt,
  actor: TenantActor,
  kind: UploadKind<Input>,
  call: Call,
  audit: AuditStamp,
): Promise<FileRow> {
  const { deps, user } = attempt;
  const bytesMax = largestFile(deps, user.plan?.maxFileSize ?? null);
  const { form, part, file, streamed } = await receive(attempt, actor, kind, bytesMax, call.raw);
  if (attempt.fileHash && !file.cutShort)
    call.idempotency?.setContent(digestForm(form, await attempt.fileHash.digest()));
  const input = parseInput(kind, form);
  const values = mergeValues(noValues, input);
  refuseKeeping(deps, actor, noValues, values);
  // Before the file is checked, so that a wrong space is reported first. The commit checks again.
  if (actor.kind !== 'space' && input.space_id)
    await refuseAbsentSpace(deps, actor.projectId, user.id, input.space_id);
  const facts = await gatherFacts(user, kind.types, part, file.head);
  refuseType(user, kind.types, facts);
  refuseSize(file.size, file.cutShort ? announcedSize(call.raw) : 0, bytesMax, attempt.room, user);
  const arrived = await streamed;
  const digest = file.digest ?? arrived?.digest;
  if (!digest) throw new Error('The file is neither stored nor in memory');
  await verifyDigests(digest.sha256, input.sha256, call.headers['content-digest'], attempt.bodyHash);
  await call.recheckCredential();
  const object = await storeInZone(attempt, arrived?.object ?? null, file, facts, values);
  const row = buildRow(actor, user, input, values, facts, file.size, digest, object);
  attempt.committing = true;
  const { outcome, stored_at } = await kind.commit(deps, row, input, audit);
  attempt.committing = false;
  if (outcome !== 'stored') throw toRefusal(outcome, user);
  countFor(deps, actor, user.id, { uploads: 1, bytes_in: file.size });
  return { compression: null, created_at: stored_at, updated_at: stored_at, ...row };
}

/** The minimum size of the file, derived from Content-Length. */
const announcedSize = ({ headers }: IncomingMessage): number =>
  Math.max(0, Number(headers['content-length'] ?? 0) - formBytesMax);

interface Received {
  readonly form: FormFields;
  readonly part: FilePart;
  readonly file: ReceivedFile;
  /** A large file, stored while it arrived. Null for a small file. */
  readonly streamed: Promise<StreamedFile | null>;
}

interface StreamedFile {
  readonly object: HeldObject;
  readonly digest: ContentDigest;
}

/** Reads the form to its end, or stops early if the file is refused and the rest is long. */
async function receive(
  attempt: Attempt,
  actor: TenantActor,
  kind: Pick<UploadKind<never>, 'fileField' | 'fieldNames' | 'types'>,
  bytesMax: number,
  raw: IncomingMessage,
): Promise<Received> {
  let part: FilePart | undefined;
  let intake: Intake | undefined;
  let streamed: Promise<StreamedFile | null> = Promise.resolve(null);
  const fileBytesMax = Math.min(bytesMax, attempt.room.user);
  const { permit } = attempt;
  const wholeMax = permit.isBuffered ? bufferedBytesMax : wholeBytesMax;
  const takeFile: TakeFile = (given, cutShort, fieldsSoFar) => {
    const { gate } = permit;
    const source = {
      pause: () => gate.hold('file'),
      resume: () => gate.release('file'),
      count: (bytes: number) => gate.count(bytes),
      cutShort,
    };
    const taken = new Intake(source, fileBytesMax, wholeMax, (body, head) => {
      const spaceId = pinnedSpaceOf(actor) ?? parseSpaceField(fieldsSoFar);
      const bytesMin = Math.max(head.length, announcedSize(raw));
      const bytesMax = Math.min(fileBytesMax, declaredBytes(raw));
      const arriving = { part: given, body, head, bytesMin, bytesMax, spaceId };
      streamed = storeWhileArriving(attempt, kind.types, arriving, (limit) => taken.lowerLimit(limit));
      attempt.streaming = streamed;
      const drop = () => taken.drop();
      streamed.then((file) => file === null && drop(), drop);
    });
    part = given;
    intake = taken;
    return attempt.fileHash ? hashedPart(attempt.fileHash, taken) : taken;
  };
  permit.watchBytes();
  const form = await readForm(raw, shapeOf(kind), takeFile, permit.signal);
  if (!part || !intake) throw new Error('The form reader returned without a file part');
  return { form, part, file: intake.received(), streamed };
}

const shapeOf = (kind: Pick<UploadKind<never>, 'fileField' | 'fieldNames'>): FormShape => ({
  fileField: kind.fileField,
  isField: (name) => isFieldName(name, kind.fieldNames),
});

/** A large file that is still arriving. */
interface ArrivingFile {
  readonly part: FilePart;
  readonly body: PushedBody;
  readonly head: Buffer;
  readonly bytesMin: number;
  readonly bytesMax: number;
  /** Null if not known yet: the field may follow the file. */
  readonly spaceId: string | null;
}

/** Reads none of the body until the upload has room and a place. Null, with nothing stored, if the file is refused. */
async function storeWhileArriving(
  attempt: Attempt,
  types: readonly string[],
  { part, body, head, bytesMin, bytesMax, spaceId }: ArrivingFile,
  lowerLimit: (bytesMax: number) => void,
): Promise<StreamedFile | null> {
  const { deps, projectId, user } = attempt;
  const facts = await gatherFacts(user, types, part, head);
  if (findRefusedType(user, types, facts) !== null) return null;
  const { signal } = attempt.abort;
  // Room first: an upload that waits for its own user's room must not occupy a place that others could use.
  await claimRoom(attempt, spaceId, bytesMin, bytesMax, signal);
  const left = Math.min(attempt.room.user, attempt.room.space);
  lowerLimit(left);
  if (left < bytesMin) return null;
  await attempt.permit.waitForPlace();
  // The visibility field may follow the file: private until the whole form is read.
  const object = await deps.reservations.newObject(projectId, 'private');
  const hash = deps.hashing.open('content');
  try {
    const options = { signal, bytesMax: Math.min(bytesMax, left), hash };
    await whileWriting(deps, object, () => write(attempt, object, body, facts, options));
    return { object, digest: splitContentDigest(await hash.digest()) };
  } finally {
    hash.close();
  }
}

/** Without any limit there is nothing to claim. */
async function claimRoom(
  attempt: Attempt,
  spaceId: string | null,
  bytesMin: number,
  bytesMax: number,
  signal: AbortSignal,
): Promise<void> {
  const { deps, projectId, user } = attempt;
  if (attempt.room.user === Number.POSITIVE_INFINITY && spaceId === null) return;
  const readRoom = async (): Promise<Room> => {
    const [row] = await deps.db.read<RoomRow>(findRoom(projectId, user.id, spaceId));
    // No row: the user was deleted, and the commit will refuse the file.
    return {
      user: row ? roomLeft(row.storage_limit, row.taken_bytes) : attempt.room.user,
      space: roomLeft(row?.space_limit ?? null, row?.space_taken_bytes ?? 0),
    };
  };
  attempt.claim = await deps.inFlight.claim({
    userId: user.id,
    spaceId,
    bytesMin,
    bytesMax,
    readRoom,
    signal,
  });
  attempt.room = attempt.claim.room;
}

/** The space, if a field before the file names it. Invalid fields are reported once the whole form is read. */
function parseSpaceField(fields: FormFields): string | null {
  try {
    const { space_id, spaceId = space_id } = gatherFields(fields, ['space_id']);
    return isUuid(spaceId) ? spaceId.toLowerCase() : null;
  } catch {
    return null;
  }
}

async function write(
  attempt: Attempt,
  object: HeldObject,
  body: Body,
  { name, declared }: FileFacts,
  options?: PutOptions,
): Promise<void> {
  const meta = buildObjectMeta(name, declared);
  await attempt.deps.objects.put(object.zone, toStorageKey(object), body, meta, options);
  attempt.written.add(object);
}

/** Stores a small file, or copies a streamed one to the zone that matches its visibility. */
async function storeInZone(
  attempt: Attempt,
  arrived: HeldObject | null,
  file: ReceivedFile,
  facts: FileFacts,
  { visibility }: FileValues,
): Promise<HeldObject> {
  const { deps, projectId } = attempt;
  const zone = zoneFor(deps.objects, visibility);
  if (arrived?.zone === zone) return arrived;
  if (!arrived) {
    if (!file.whole) throw new Error('The file is neither stored nor in memory');
    const object = await deps.reservations.newObject(projectId, zone);
    await write(attempt, object, file.whole, facts);
    return object;
  }
  const object = { ...arrived, zone };
  await deps.reservations.reserve(object);
  await copyArrived(deps, arrived, zone);
  attempt.written.add(object);
  await removeRefused(deps, arrived);
  attempt.written.delete(arrived);
  return object;
}

/** NOT_FOUND for an object that was just stored is the store's fault, so it is not a 404 for the caller. */
async function copyArrived(deps: Deps, arrived: HeldObject, to: Zone): Promise<void> {
  try {
    await deps.objects.copy(arrived.zone, to, toStorageKey(arrived));
  } catch (error) {
    if (!(error instanceof PakhusError) || error.code !== 'NOT_FOUND') throw error;
    throw outage('storage', 'The object store lost the file: try again', error);
  }
}

function parseInput<Input extends UploadInput>(kind: UploadKind<Input>, form: FormFields): Input {
  const fields = gatherFields(form, kind.fieldNames, kind.numberFields);
  kind.validate(fields);
  return fields as unknown as Input;
}

const buildRow = (
  actor: TenantActor,
  user: Subject,
  input: UploadInput,
  values: FileValues,
  facts: FileFacts,
  size: number,
  digest: ContentDigest,
  object: HeldObject,
): NewFile => ({
  id: object.fileId,
  project_id: actor.projectId,
  user_id: user.id,
  space_id: pinnedSpaceOf(actor) ?? input.space_id?.toLowerCase() ?? null,
  name: facts.name,
  size,
  mime_type: facts.declared,
  storage_key: toStorageKey(object),
  zone: object.zone,
  sha256: digest.sha256.toString('hex'),
  crc32: digest.crc32,
  // Spread last, here and above: V8 adds fields that follow a spread one by one, at 50 times the cost.
  ...values,
});
