// Creates uploads: checks what a plain upload would check, in the same order, and reserves the room.
import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { FileValues } from '../../contract/file.ts';
import type { Subject } from '../../contract/subject.ts';
import { randomToken, sha256 } from '../../kernel/crypto/secret.ts';
import { PakhusError } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import { mayWait } from '../../platform/db/project-work.ts';
import type { StagedObject } from '../../platform/objects/staged-objects.ts';
import {
  gatherFacts,
  largestFile,
  refuseSize,
  refuseType,
  toRefusal,
  toRoom,
} from '../files/files.checks.ts';
import { refuseKeeping } from '../files/files.keeping.ts';
import { noValues } from '../files/files.meta.ts';
import { zoneFor } from '../files/files.objects.ts';
import { refuseAbsentSpace } from '../files/files.service.ts';
import { toStagedObject } from './uploads.claim.ts';
import {
  type CreatedRow,
  createUpload,
  type NewUpload,
  type UploadMode,
  type UploadRow,
} from './uploads.sql.ts';

/** Unfinished ones. */
const uploadsMax = { perUser: 100, perProject: 1_000 };

export interface UploadWishes {
  readonly mode: UploadMode;
  readonly name: string | undefined;
  readonly mimeType: string | undefined;
  /** Null if the client does not know it yet. */
  readonly size: number | null;
  readonly spaceId: string | null;
  readonly sha256: string | undefined;
  readonly values: FileValues;
}

export interface BegunUpload {
  readonly row: UploadRow;
  /** The secret of its URL. Null for a direct upload. */
  readonly token: string | null;
  /** Of a direct upload. */
  readonly object: StagedObject | null;
}

export async function beginUpload(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  wishes: UploadWishes,
  audit: AuditStamp,
): Promise<BegunUpload> {
  if (!user.active) throw toRefusal('inactive user');
  const { mode, size } = wishes;
  const { expires_at: file_expires_at, retain_until: file_retain_until, ...values } = wishes.values;
  refuseKeeping(deps, actor, noValues, wishes.values);
  const spaceId = pinnedSpaceOf(actor) ?? wishes.spaceId;
  if (actor.kind !== 'space' && spaceId) await refuseAbsentSpace(deps, actor.projectId, user.id, spaceId);
  const facts = await gatherFacts(
    user,
    [],
    { filename: wishes.name, contentType: wishes.mimeType ?? '' },
    Buffer.alloc(0),
  );
  refuseType(user, [], facts);
  refuseSize(size ?? 0, 0, largestFile(deps, user.plan?.maxFileSize ?? null), toRoom(user), user);
  const token = mode === 'resumable' ? randomToken(32) : null;
  const id = newId();
  const wanted: NewUpload = {
    id,
    project_id: actor.projectId,
    user_id: user.id,
    space_id: spaceId,
    mode,
    token_hash: token && `\\x${hashToken(token).toString('hex')}`,
    ...credentialOf(actor),
    name: facts.name,
    mime_type: facts.declared,
    sha256: wishes.sha256 === undefined ? null : `\\x${wishes.sha256}`,
    size,
    object_id: mode === 'direct' ? id : null,
    state: null,
    zone: zoneFor(deps.objects, values.visibility),
    file_expires_at,
    file_retain_until,
    ...values,
  };
  const object = mode === 'direct' ? await beginObject(deps, wanted) : null;
  const upload = { ...wanted, state: object?.state ?? null };
  const expirySeconds = deps.settings.UPLOAD_EXPIRY_SECONDS;
  const statement = createUpload(upload, audit, uploadsMax, expirySeconds);
  const [created] = await mayWait(deps, actor.projectId, () => deps.db.query<CreatedRow>(statement));
  const { outcome, created_at, expires_at } = created as CreatedRow;
  if (outcome !== 'created') {
    if (object) await deps.objects.staged.discard(object);
    throw explain(outcome, user);
  }
  return { row: toRow(upload, created_at, expires_at), token, object };
}

/** Before the upload is on record, so that one statement records both. What a crash leaves in the store is swept. */
async function beginObject(deps: Deps, upload: NewUpload): Promise<StagedObject> {
  const object = toStagedObject(upload);
  return upload.size === 0 ? object : { ...object, state: await deps.objects.staged.beginDirect(object) };
}

export const hashToken = (token: string): Buffer => sha256(token);

/** What the URL of the upload dies with. */
function credentialOf(actor: TenantActor): Pick<NewUpload, 'integration_id' | 'key_id' | 'jti'> {
  return {
    integration_id: actor.kind === 'project' ? null : actor.integrationId,
    key_id: actor.keyId,
    jti: actor.kind === 'user' || actor.kind === 'space' ? actor.jti : null,
  };
}

const toRow = (upload: NewUpload, created_at: string, expires_at: string): UploadRow => ({
  id: upload.id,
  project_id: upload.project_id,
  user_id: upload.user_id,
  space_id: upload.space_id,
  status: 'uploading',
  mode: upload.mode,
  name: upload.name,
  mime_type: upload.mime_type,
  size: upload.size,
  received: 0,
  file_id: null,
  error: null,
  expires_at,
  created_at,
  updated_at: created_at,
});

function explain(outcome: Exclude<CreatedRow['outcome'], 'created'>, user: Subject): PakhusError {
  if (outcome === 'too many of user') return tooManyUploads('user', uploadsMax.perUser);
  if (outcome === 'too many of project') return tooManyUploads('project', uploadsMax.perProject);
  return toRefusal(outcome, user);
}

const tooManyUploads = (whose: 'user' | 'project', max: number) =>
  new PakhusError(
    'CONFLICT',
    `The ${whose} has ${max} unfinished uploads: complete some, or cancel those that will not be continued`,
    { details: { limit: whose, max } },
  );
