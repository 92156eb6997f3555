// Every read, filter and change whose cost could grow with the number of files, for one user of a project.
import { cursorAfter } from './cursor.mjs';
import { rareAuditUser } from './fill.mjs';
import { formHeaders, formOf } from './forms.mjs';
import { query } from './sizes.mjs';

const body = formOf(10 * 1024);
const pageSize = 20;

/** Values that the files of `mixedColumns` have. */
const filters = {
  folder: 'folder=folder-2/deeper-7',
  'root folder': 'folder=',
  'common tag': 'tags=bench',
  'two tags': 'tags=bench&tags=tag-1',
  'rare tag': 'tags=rare',
  'tag of no file': 'tags=none',
  classifier: 'classifier=class-1',
  'rare classifier': 'classifier=rare',
  'classifier of no file': 'classifier=none',
  type: 'mime_type=application/pdf',
  'rare type': 'mime_type=video/rare',
  'type of no file': 'mime_type=audio/mpeg',
  family: 'mime_type=image/*',
  'rare family': 'mime_type=video/*',
  public: 'visibility=public',
  private: 'visibility=private',
  'no space': 'space_id=none',
  'classifier and type': 'classifier=class-1&mime_type=application/pdf',
  'tag and classifier': 'tags=bench&classifier=class-1',
  'tag and folder': 'tags=bench&folder=folder-2/deeper-7',
  'folder and type': 'folder=folder-2/deeper-7&mime_type=application/pdf',
  'public and type': 'visibility=public&mime_type=image/png',
};

/** `server` has a `fileId` and a `spaceId` of the tenant's user. */
export async function everyRequest(server) {
  return {
    ...(await readsOf(server)),
    ...auditOf(server),
    ...statsOf(server),
    ...changesOf(server),
  };
}

async function readsOf(server) {
  const { key, userId } = server.tenant;
  const user = `/api/v1/project/users/${userId}`;
  const read = (path) => ({ server, request: { path, headers: { authorization: `Bearer ${key}` } } });
  const list = (filter) => read(`${user}/files?limit=${pageSize}&${filter}`);
  const inSpace = `space_id=${server.spaceId}`;
  const folders = (where) => read(`${user}/files/folders?limit=${pageSize}&${where}`);
  return {
    'user detail': read(user),
    'list users': read(`/api/v1/project/users?limit=${pageSize}`),
    'list spaces': read(`${user}/spaces?limit=${pageSize}`),
    'file detail': read(`${user}/files/${server.fileId}`),
    'list 20 files': list(''),
    'list 20 files, from the middle': list(`cursor=${await cursorAfter(server, server.userFiles / 2)}`),
    ...Object.fromEntries(Object.entries(filters).map(([what, filter]) => [`list by ${what}`, list(filter)])),
    'list by space': list(inSpace),
    'list by space and folder': list(`${inSpace}&folder=folder-2/deeper-7`),
    'list by space and tag': list(`${inSpace}&tags=bench`),
    'list by space and classifier': list(`${inSpace}&classifier=class-1`),
    'folders at the root': folders(''),
    'folders below a folder': folders('prefix=folder-2'),
    'folders of a space': folders(inSpace),
  };
}

function auditOf(server) {
  const { admin, key, userId, projectId } = server.tenant;
  const list = (path, as) => ({ server, request: { path, headers: { authorization: `Bearer ${as}` } } });
  const own = (filter) => list(`/api/v1/project/audit?limit=${pageSize}&${filter}`, key);
  const all = (filter) => list(`/api/v1/admin/audit?limit=${pageSize}&${filter}`, admin);
  const day = (back) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  const pastWeek = `from=${day(107)}&to=${day(100)}`;
  const filters = {
    action: 'action=file.upload',
    'rare action': 'action=plan.delete',
    'action of no row': 'action=space.delete',
    actor: 'actor_type=project',
    'rare actor': 'actor_type=admin',
    'actor of no row': 'actor_type=integration',
    user: `user_id=${userId}`,
    'rare user': `user_id=${rareAuditUser}`,
    'user of no row': 'user_id=00000000-0000-4000-8000-000000000000',
    'user and action': `user_id=${userId}&action=file.upload`,
    'user and action of no row': `user_id=${userId}&action=space.delete`,
    'action and actor': 'action=file.upload&actor_type=project',
    'a past week and action': `${pastWeek}&action=file.upload`,
    'a past week and rare action': `${pastWeek}&action=plan.delete`,
    'a past week and rare actor': `${pastWeek}&actor_type=admin`,
  };
  const byEach = (what, ask) =>
    Object.fromEntries(Object.entries(filters).map(([by, filter]) => [`${what} by ${by}`, ask(filter)]));
  return {
    'audit: newest': own(''),
    'audit: a past week': own(pastWeek),
    ...byEach('audit:', own),
    'audit: of all projects': all(''),
    ...byEach('audit: of all projects', all),
    'audit: of a project, for the admin': all(`project_id=${projectId}`),
  };
}

function statsOf(server) {
  const { admin, key, userId } = server.tenant;
  const read = (path, as = key) => ({
    server,
    request: { path: `/api/v1${path}`, headers: { authorization: `Bearer ${as}` } },
  });
  return {
    'stats: overview': read('/project/stats/overview'),
    'stats: files': read('/project/stats/files'),
    'stats: storage': read('/project/stats/storage'),
    'stats: requests': read('/project/stats/requests'),
    'stats: a user': read(`/project/users/${userId}/stats`),
    'stats: storage of a user': read(`/project/users/${userId}/storage`),
    'stats: all projects': read('/admin/stats/global', admin),
    'stats: list of projects': read('/admin/stats/projects', admin),
  };
}

/** The deletions take the files that the uploads before them have left. */
export function changesOf(server, userId = server.tenant.userId) {
  const headers = { authorization: `Bearer ${server.tenant.key}` };
  const path = `/api/v1/project/users/${userId}/files`;
  let left = [];
  const prepare = async () => {
    const uploaded = `select id from files where user_id = $1 and name = 'bench.bin' and id <> $2`;
    const { rows } = await query(server.database.url, uploaded, [userId, server.fileId]);
    left = rows.map(({ id }) => id);
  };
  const remove = () => {
    const id = left.pop();
    return id === undefined ? null : { method: 'DELETE', path: `${path}/${id}`, headers };
  };
  const upload = { method: 'POST', path, headers: { ...headers, ...formHeaders }, body };
  return {
    'upload 10 KiB': { server, expect: 201, request: upload },
    'delete a file': { server, expect: 204, request: remove, prepare },
  };
}
