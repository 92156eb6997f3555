// The rules for an upload (name, type, size, digests) and the error for each one it breaks.
import type { Deps } from '../../contract/deps.ts';
import type { StoreOutcome } from '../../contract/file.ts';
import { spaceNotFound, tooMany, userNotFound } from '../../contract/refusals.ts';
import { type PlanFacts, type Subject, usualMax } from '../../contract/subject.ts';
import { invalid, outage, PakhusError } from '../../kernel/error.ts';
import { mediaTypesConflict } from '../../kernel/media/media-compatibility.ts';
import { isAllowedType, parseMediaType } from '../../kernel/media/media-type.ts';
import { isStorableText } from '../../kernel/text/text.ts';
import type { Room } from '../../platform/concurrency/bytes-in-flight.ts';
import type { FilePart } from '../../platform/forms/form-reader.ts';
import { detectMediaType, sniffedBytes } from '../../platform/media-detect.ts';
import { objectLost } from '../objects/objects.hold.ts';
import type { SideHash } from './files.body-hash.ts';

export interface FileFacts {
  readonly name: string;
  /** As the client sent it. */
  readonly declared: string;
  /** Detected from the first bytes; null if they are ambiguous or every type is allowed. */
  readonly detected: string | null;
}

/** Those whose plan decides. */
type Limited = { readonly plan: Pick<PlanFacts, 'allowedMimes'> | null };

export async function gatherFacts(
  user: Limited,
  types: readonly string[],
  part: FilePart,
  head: Buffer,
): Promise<FileFacts> {
  const matters = planTypes(user).length + types.length > 0;
  return {
    name: parseFileName(part.filename),
    declared: parseMediaType(part.contentType),
    detected: matters ? await detectMediaType(head.subarray(0, sniffedBytes)) : null,
  };
}

const planTypes = ({ plan }: Limited): readonly string[] => plan?.allowedMimes ?? [];

interface Refused {
  readonly type: string;
  /** The list it is missing from. */
  readonly allowed: readonly string[];
}

/** The declared or detected type, whichever the plan or this kind of upload does not allow. */
export function findRefusedType(user: Limited, types: readonly string[], facts: FileFacts): Refused | null {
  const { declared, detected } = facts;
  const allowed = planTypes(user);
  if (!isAllowedType(declared, allowed)) return { type: declared, allowed };
  // A detected type that is only an alias of the declared one, or less precise, does not contradict it.
  if (detected !== null && !isAllowedType(detected, allowed) && mediaTypesConflict(declared, detected))
    return { type: detected, allowed };
  // The bytes are not checked against `types`: the worker that decodes them reports a false claim.
  return isAllowedType(declared, types) ? null : { type: declared, allowed: types };
}

export function refuseType(user: Limited, types: readonly string[], facts: FileFacts): void {
  const refused = findRefusedType(user, types, facts);
  if (refused === null) return;
  const { declared, detected } = facts;
  const { type, allowed } = refused;
  const message =
    allowed === types
      ? `Only ${types.join(', ')} can be uploaded here, not ${type}: send other files to …/files`
      : `The plan does not allow files of type ${type}`;
  throw new PakhusError('MIME_NOT_ALLOWED', message, { details: { declared, detected, allowed } });
}

/** Checks the file size limit first: it applies however much room is left. */
export function refuseSize(
  arrived: number,
  announced: number,
  bytesMax: number,
  room: Room,
  user: Owner | null = null,
): void {
  const size = Math.max(arrived, announced);
  if (size > bytesMax) throw fileTooLarge(bytesMax);
  if (size > room.user) throw toRefusal('user limit', user);
  if (size > room.space) throw toRefusal('space limit', user);
}

/** What the plan and the operator allow. */
export const largestFile = ({ settings }: Pick<Deps, 'settings'>, planMax: number | null): number =>
  Math.min(planMax ?? Number.POSITIVE_INFINITY, settings.MAX_UPLOAD_BYTES);

export const fileTooLarge = (bytesMax: number) =>
  new PakhusError('FILE_TOO_LARGE', `A file may have at most ${bytesMax} bytes here`, {
    details: { bytes_max: bytesMax },
  });

/** The room left at authentication. Only an early check: the commit decides. */
export const toRoom = ({ plan, usedBytes, reservedBytes }: Subject): Room => ({
  user: roomLeft(plan?.storageLimit ?? null, usedBytes + reservedBytes),
  space: Number.POSITIVE_INFINITY,
});

/** Taken bytes are used, or reserved for unfinished uploads. */
export const roomLeft = (limit: number | null, takenBytes: number): number =>
  limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - takenBytes);

const nameLengthMax = 255;

/** Bidirectional controls disguise a name: `photo\u202Egpj.exe` is displayed as `photoexe.jpg`. */
const reordering = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function parseFileName(filename: string | undefined): string {
  const name = (filename ?? '').trim() || 'file';
  if (name.length > nameLengthMax || /\p{Cc}/u.test(name) || !isStorableText(name)) {
    const message = `must have at most ${nameLengthMax} characters and no control characters`;
    throw invalid(422, [{ path: 'filename', message, code: 'name' }]);
  }
  const [reorders] = reordering.exec(name) ?? [];
  if (reorders !== undefined) {
    const codePoint = `U+${reorders.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    const message = `must not contain bidirectional control characters: remove ${codePoint}`;
    throw invalid(422, [{ path: 'filename', message, code: 'name' }]);
  }
  return name;
}

/** `sha256` must match the file; Content-Digest must match the file or the whole body. */
export async function verifyDigests(
  received: Buffer,
  sha256: string | undefined,
  header: string | string[] | undefined,
  body: Pick<SideHash, 'digest'> | null,
): Promise<void> {
  if (sha256 !== undefined && !Buffer.from(sha256, 'hex').equals(received))
    throw digestFault('sha256', received);
  const [, encoded] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):/i.exec(String(header ?? '')) ?? [];
  if (encoded === undefined) return;
  const given = Buffer.from(encoded, 'base64');
  if (given.equals(received) || (await body?.digest())?.equals(given)) return;
  throw digestFault('content-digest', received);
}

const digestFault = (path: string, received: Buffer) =>
  invalid(422, [
    {
      path,
      message: `does not match the received file, whose sha256 is ${received.toString('hex')}`,
      code: 'digest',
    },
  ]);

/** What the messages need to know about the user, as read at authentication. */
type Owner = Pick<Subject, 'plan' | 'reservedBytes'>;

export function toRefusal(outcome: Exclude<StoreOutcome, 'stored'>, user: Owner | null = null): PakhusError {
  switch (outcome) {
    case 'no user':
      return userNotFound();
    case 'inactive user':
      return new PakhusError('FORBIDDEN', 'The user is not active: activate it before you upload for it');
    case 'no space':
      return spaceNotFound();
    case 'inactive space':
      return new PakhusError('FORBIDDEN', 'The space is not active: activate it before you upload into it');
    case 'user limit':
      return overLimit("the user's plan", 'storageLimit', user);
    case 'space limit':
      return overLimit('the space', 'limit_bytes', user);
    case 'file count':
      return tooMany('files', 'maxFiles', user?.plan?.maxFiles ?? usualMax.files);
    case 'object lost':
      return objectLost();
    case 'not confirmed':
      return outage('database', 'The database did not answer. The file was not stored: send it again');
  }
}

function overLimit(whose: string, limit: string, user: Owner | null): PakhusError {
  const remedy = user?.reservedBytes ? 'delete something, cancel unfinished uploads' : 'delete something';
  return new PakhusError(
    'STORAGE_LIMIT_EXCEEDED',
    `Not enough storage left in ${whose}: ${remedy} or raise its ${limit}`,
    { details: { limit } },
  );
}
