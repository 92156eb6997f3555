// Statements on shares. A share of a file that is in the trash is not found: every read asks for the live file.
import type { AuditStamp } from '../../contract/audit.ts';
import { isUnexpired } from '../../contract/file-conditions.ts';
import { newestFiltered, newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';
import { auditCall } from '../audit/audit.service.ts';

export interface ShareValues {
  readonly name: string | null;
  readonly expires_at: string | null;
  readonly max_downloads: number | null;
  readonly active: boolean;
}

export interface ShareRow extends ShareValues {
  readonly id: string;
  readonly file_id: string;
  readonly has_password: boolean;
  readonly downloads: number;
  readonly last_used_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Which shares a caller may see: those of a user's files, with a `spaceId` only of files in that space. */
export interface ShareScope {
  readonly projectId: string;
  readonly userId: string;
  readonly spaceId: string | null;
}

const columns = sql`s.id, s.file_id, s.name, s.expires_at, s.password_hash is not null as has_password, s.max_downloads,
  s.downloads, s.last_used_at, s.active, s.created_at, s.updated_at`;

const hasFile = (spaceId: string | null): Sql => sql`exists (select from files f
  where f.project_id = s.project_id and f.id = s.file_id and f.user_id = s.user_id
    and ${isUnexpired(sql`f`)}
    ${spaceId === null ? noSql : sql`and f.space_id = ${spaceId}`})`;

export const listSharesOfFile = (
  { projectId, userId, spaceId }: ShareScope,
  fileId: string,
  after: Sql,
  page: PageRequest,
): Sql =>
  newestFirst(
    sql`select ${columns} from shares s where s.project_id = ${projectId} and s.file_id = ${fileId}
      and s.user_id = ${userId} and ${hasFile(spaceId)}${after}`,
    page,
  );

export const listSharesOfUser = (
  { projectId, userId, spaceId }: ShareScope,
  after: Sql,
  page: PageRequest,
): Sql => {
  const rows = sql`select ${columns} from shares s where s.project_id = ${projectId} and s.user_id = ${userId}
    and ${hasFile(spaceId)}${after}`;
  return spaceId === null ? newestFirst(rows, page) : newestFiltered(rows, page);
};

export const findShare = (
  { projectId, userId, spaceId }: ShareScope,
  fileId: string,
  shareId: string,
): Sql => sql`
  select ${columns} from shares s
  where s.project_id = ${projectId} and s.id = ${shareId} and s.file_id = ${fileId} and s.user_id = ${userId}
    and ${hasFile(spaceId)}`;

/** Locks the row until the transaction ends. */
export const lockShare = (scope: ShareScope, fileId: string, shareId: string): Sql =>
  sql`${findShare(scope, fileId, shareId)} for no key update`;

/** Against the deletion of the user, which locks users before files. */
export const lockOwner = ({ projectId, userId }: ShareScope): Sql => sql`
  select from users where project_id = ${projectId} and id = ${userId} for key share`;

/** So that shares of one file are counted one after another, and the file is not deleted meanwhile. */
export const lockSharedFile = ({ projectId, userId, spaceId }: ShareScope, fileId: string): Sql => sql`
  select from files where project_id = ${projectId} and id = ${fileId} and user_id = ${userId}
    and ${isUnexpired()}
    ${spaceId === null ? noSql : sql`and space_id = ${spaceId}`} for no key update`;

export const countShares = (projectId: string, fileId: string): Sql => sql`
  select count(*)::int as shares from shares where project_id = ${projectId} and file_id = ${fileId}`;

export interface NewShare extends ShareValues {
  readonly id: string;
  readonly tokenHash: Buffer;
  readonly passwordHash: string | null;
}

export const insertShare = ({ projectId, userId }: ShareScope, fileId: string, share: NewShare): Sql => sql`
  insert into shares as s
    (project_id, user_id, file_id, id, token_hash, name, password_hash, expires_at, max_downloads, active)
  values (${projectId}, ${userId}, ${fileId}, ${share.id}, ${share.tokenHash}, ${share.name}, ${share.passwordHash},
    ${share.expires_at}, ${share.max_downloads}, ${share.active})
  returning ${columns}`;

/** `passwordHash` undefined keeps the password. */
export const updateShare = (
  projectId: string,
  shareId: string,
  values: ShareValues,
  passwordHash: string | null | undefined,
): Sql => sql`
  update shares s set name = ${values.name}, expires_at = ${values.expires_at}, max_downloads = ${values.max_downloads},
    active = ${values.active}, updated_at = now()
    ${passwordHash === undefined ? noSql : sql`, password_hash = ${passwordHash}`}
  where s.project_id = ${projectId} and s.id = ${shareId} returning ${columns}`;

export const deleteShare = (projectId: string, shareId: string): Sql => sql`
  delete from shares where project_id = ${projectId} and id = ${shareId}`;

/** A share as the one who opens it sees it. */
export interface OpenShareRow {
  readonly id: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly file_id: string;
  readonly password_hash: string | null;
  readonly is_used_up: boolean;
}

/** Nothing if anything is in the way, whatever it is, except that it may be used up. */
export const findByToken = (tokenHash: Buffer): Sql => sql`
  select s.id, s.project_id, s.user_id, s.file_id, s.password_hash,
    coalesce(s.downloads >= s.max_downloads, false) as is_used_up
  from shares s
  join projects p on p.id = s.project_id and p.active
  join users u on u.project_id = s.project_id and u.id = s.user_id and u.active
  join files f on f.project_id = s.project_id and f.id = s.file_id and f.user_id = s.user_id
    and ${isUnexpired(sql`f`)}
  where s.token_hash = ${tokenHash} and ${isOpen} and (f.space_id is null or exists (
    select from spaces sp where sp.project_id = f.project_id and sp.id = f.space_id and sp.active))`;

const isOpen = sql`s.active and (s.expires_at is null or s.expires_at > now())`;

/** Counts a download and records it, if there is one left. The row's lock decides races: each sees what the last one counted. */
export const countDownload = (
  { project_id, id, user_id }: OpenShareRow,
  audit: AuditStamp,
  fileId: string,
): Sql => sql`
  with counted as (
    update shares s set downloads = s.downloads + 1, last_used_at = now()
    where s.project_id = ${project_id} and s.id = ${id} and ${isOpen}
      and (s.max_downloads is null or s.downloads < s.max_downloads)
    returning s.downloads)
  select counted.downloads, ${auditCall(audit, {
    resourceType: 'share',
    resourceId: id,
    userId: user_id,
    metadata: { file_id: fileId },
  })} from counted`;

export interface SharePosition {
  readonly project_id: string;
  readonly id: string;
}

/** A batch of shares of all projects, in the order of their key, and which of them have a file, live or in the trash. */
export const listForSweep = (after: SharePosition, rowsMax: number): Sql => sql`
  select s.project_id, s.id,
    exists (select from files f where f.project_id = s.project_id and f.id = s.file_id)
    or exists (select from trashed_files t where t.project_id = s.project_id and t.id = s.file_id) as has_file
  from shares s where (s.project_id, s.id) > (${after.project_id}, ${after.id})
  order by s.project_id, s.id limit ${rowsMax}`;
