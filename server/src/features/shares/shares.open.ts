// What whoever has the link may do: look, give the password, download. The link is the permission, and everything that is
// in the way looks the same: not found.
import type { Readable } from 'node:stream';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { sha256 } from '../../kernel/crypto/secret.ts';
import { withoutProofs } from '../../kernel/crypto/share-proof.ts';
import { PakhusError } from '../../kernel/error.ts';
import { mayWait } from '../../platform/db/project-work.ts';
import { countUse } from '../../platform/limits/count-use.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import { hashQueueOfStrangers } from '../../platform/passwords.ts';
import { replyWithBytes, toByteSource } from '../content/content.reply.ts';
import { type FileContent, findContentOf } from '../content/content.source.ts';
import { countShared } from '../traffic/traffic.count.ts';
import { countDownload, findByToken, type OpenShareRow } from './shares.sql.ts';

export const hashShareToken = (token: string): Buffer => sha256(token);

const failurePolicy: Policy = { max: 10, windowMs: 15 * 60_000 };

export const passwordFailures = (shareId: string): string => `share-password:${shareId}`;

/** One error for everything. */
const nothingHere = () => new PakhusError('NOT_FOUND', 'This link leads to nothing');

async function findOpenShare({ db }: Deps, token: string): Promise<OpenShareRow> {
  const [share] = await db.read<OpenShareRow>(findByToken(hashShareToken(token)));
  if (!share) throw nothingHere();
  return share;
}

const findShared = (deps: Deps, share: OpenShareRow): Promise<FileContent> =>
  findContentOf(deps, {
    projectId: share.project_id,
    userId: share.user_id,
    spaceId: null,
    fileId: share.file_id,
  });

export interface SharedFile {
  readonly name: string;
  readonly bytes: number;
  readonly hasPassword: boolean;
}

export async function describeShare(deps: Deps, token: string): Promise<SharedFile> {
  const share = await findOpenShare(deps, token);
  if (share.is_used_up) throw nothingHere();
  const { name, bytes } = await findShared(deps, share);
  return { name, bytes, hasPassword: share.password_hash !== null };
}

/** Returns the pass that opens the download, or null if the password is wrong. Throws 429 after too many of those. */
export async function unlockShare(
  deps: Deps,
  token: string,
  password: string,
  { addresses }: Pick<Call, 'addresses'>,
): Promise<string | null> {
  const share = await findOpenShare(deps, token);
  if (share.is_used_up) throw nothingHere();
  const { id, password_hash: hash } = share;
  if (hash === null) return '';
  const failures = passwordFailures(id);
  const right = await deps.passwords.verify(hashQueueOfStrangers(addresses), password, hash, () =>
    countUse(deps, failures, failurePolicy, 'Too many wrong passwords for this link'),
  );
  if (!right) return null;
  await deps.limiter.reset(failures);
  return deps.shareProofs.issuePass(id, hash);
}

/** Null if the password has to be given first. */
export async function downloadShare(
  deps: Deps,
  token: string,
  pass: string | null,
  call: Call,
): Promise<Readable | null> {
  const share = await findOpenShare(deps, token);
  const ifRange = call.headers['if-range']?.toString() ?? '';
  const hasBegun = call.headers.range !== undefined && deps.shareProofs.acceptsEtag(ifRange, share.id);
  if (share.is_used_up && !hasBegun) throw nothingHere();
  const { password_hash: hash } = share;
  if (hash !== null && !deps.shareProofs.acceptsPass(pass ?? '', share.id, hash)) return null;
  return replyWithBytes(call, {
    headers: withBareEtags(call.headers),
    find: async () => toByteSource(deps, await findShared(deps, share), 'attachment'),
    embeddedBy: 'same-origin',
    cacheControl: 'private, no-store',
    // Part of a download that was counted: the client shows the ETag that it got with it.
    beforeBytes: async ({ resumes }, { etag }) =>
      hasBegun && resumes ? ifRange : count(deps, share, etag, call),
  });
}

/** Conditions are about the bytes, whichever download the client has them from. */
const withBareEtags = (headers: Call['headers']): Call['headers'] => {
  const bare = { ...headers };
  for (const name of ['if-match', 'if-none-match', 'if-range'] as const)
    if (bare[name] !== undefined) bare[name] = withoutProofs(String(bare[name]));
  return bare;
};

/** Returns the ETag that proves it. */
async function count(deps: Deps, share: OpenShareRow, etag: string, call: Call): Promise<string> {
  const { project_id, user_id, file_id } = share;
  const audit: AuditStamp = {
    action: 'share.download',
    projectId: project_id,
    actorType: 'project',
    actorId: null,
    actorKeyId: null,
    ipAddress: call.ipAddress,
    userAgent: call.userAgent,
  };
  const statement = countDownload(share, audit, file_id);
  const [counted] = await mayWait(deps, project_id, () => deps.db.query<{ downloads: number }>(statement));
  if (!counted) throw nothingHere();
  countShared(deps, project_id, user_id);
  return deps.shareProofs.signEtag(share.id, etag, counted.downloads);
}
