// The HTTP routes for files.

import { route } from '../../contract/route.ts';
import { Bytes, Choice, DateOrTime, Listing, NextCursor, pageQuery, Uuid } from '../../contract/wire.ts';
import { parseTypeFilter } from '../../kernel/media/media-type.ts';
import { Type } from '../../kernel/schema.ts';
import { bodyValidator } from '../../platform/validation.ts';
import { parseTagFilter, validateFolder } from './files.meta.ts';
import { buildFileUrl, serializeDetail } from './files.objects.ts';
import { removeFile } from './files.remove.ts';
import { parseSearch, searchFiles, searchIn } from './files.search.ts';
import { changeFile, listFolder, listUserFiles, readFile, visibleSpace } from './files.service.ts';
import { listTrash, refuseFilters } from './files.trash.ts';
import { type UploadInput, type UploadKind, uploadFile } from './files.upload.ts';
import { versionOf } from './files.version.ts';
import {
  Classifier,
  FileDetail,
  FileMeta,
  FilePart,
  FileView,
  Folder,
  FolderKept,
  formFields,
  formRules,
  IfMatchHeaders,
  ListedFile,
  MetaPart,
  Sha256,
  SpaceFilter,
  UploadHeaders,
  uploadFields,
  VersionHeaders,
  Visibility,
  viewDetail,
  viewFile,
} from './files.wire.ts';

const callers = ['project', 'integration', 'user', 'space'] as const;
const reading = { actors: callers, scope: 'files:read' } as const;
const writing = { actors: callers, scope: 'files:write' } as const;
const deleting = { actors: callers, scope: 'files:delete' } as const;
const params = Type.Object({ fileId: Uuid });

const plainUpload: UploadKind<UploadInput> = {
  fileField: 'file',
  fieldNames: Object.keys(uploadFields),
  types: [],
  validate: bodyValidator(Type.Object(uploadFields)),
  commit: (deps, file, _input, audit) => deps.commitUpload(file, audit),
};

const FileQuery = Type.Object({
  folder: Type.Optional(Folder),
  tags: Type.Optional(
    Type.Array(Type.String({ maxLength: 2200 }), {
      maxItems: 32,
      description:
        'All must match. Repeat the parameter, separate tags by commas, or send a JSON array, which tags with a comma need.',
      examples: [['paid']],
    }),
  ),
  classifier: Type.Optional(Classifier),
  mime_type: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^[A-Za-z0-9_!#$&^.+-]+/(\\*|[A-Za-z0-9_!#$&^.+-]+)(;[!-~]*)?$',
      description: 'A type such as image/png, or a family such as image/*.',
      examples: ['image/*'],
    }),
  ),
  visibility: Type.Optional(Visibility),
  space_id: Type.Optional(SpaceFilter),
  q: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      description: 'A part of the name. Case and accents do not matter.',
      examples: ['invoice'],
    }),
  ),
  created_from: Type.Optional(
    DateOrTime('Files uploaded at or after this time; a date means the start of that day.'),
  ),
  created_to: Type.Optional(
    DateOrTime('Files uploaded at or before this time; a date means the end of that day.'),
  ),
  size_min: Type.Optional(Bytes('The smallest size, inclusive.')),
  size_max: Type.Optional(Bytes('The largest size, inclusive.')),
  sha256: Type.Optional(Sha256),
  sort: Type.Optional(
    Choice(['name', 'size', 'created_at'], {
      description: 'By default `created_at`. Names are sorted without regard to case and accents.',
    }),
  ),
  order: Type.Optional(
    Choice(['asc', 'desc'], { description: 'By default `asc` for names, and `desc` otherwise.' }),
  ),
  trashed: Type.Optional(
    Type.Boolean({
      description:
        'The files in the trash instead, trashed last first. Of the other filters, only `space_id` can be given.',
      examples: [false],
    }),
  ),
  ...pageQuery(20),
});

const Permanent = Type.Optional(
  Type.Boolean({
    description: 'Delete for good: past the trash, and also a file that is in it.',
    examples: [false],
  }),
);

const shortPages =
  'A page whose files have large metadata ends early, after about 256 KiB: go by `next_cursor`, not by the number of files.';

export const fileRoutes = [
  route(
    {
      id: 'files.upload',
      method: 'POST',
      path: '/project/users/:user/files',
      summary: 'Upload a file',
      description: `A space token uploads to its own space.\n\n${formRules}`,
      access: writing,
      rateLimit: 'integration',
      idempotent: true,
      audit: 'file.upload',
      multipart: true,
      reads: { headers: UploadHeaders },
      body: Type.Object({ file: FilePart, meta: MetaPart, ...formFields }),
      returns: { status: 201, body: Type.Object({ file: FileDetail }) },
      errors: ['STORAGE_LIMIT_EXCEEDED', 'FILE_TOO_LARGE', 'MIME_NOT_ALLOWED', 'OVER_QUOTA'],
    },
    async ({ deps, actor, user, call, audit }) => {
      const file = await uploadFile(deps, actor, user, plainUpload, call, audit);
      return { file: viewDetail(file, buildFileUrl(deps, call.origin, file)) };
    },
  ),
  route(
    {
      id: 'files.list',
      method: 'GET',
      path: '/project/users/:user/files',
      summary: "List a user's files",
      description: `Newest first, unless \`sort\` says otherwise. A space token sees the files of its space. ${shortPages} A page of a search may be short as well, or even empty, if little matches among very many files.`,
      access: reading,
      rateLimit: 'integration',
      audit: null,
      query: FileQuery,
      returns: { status: 200, body: Listing('files', ListedFile) },
      errors: ['NOT_FOUND', { code: 'VALIDATION_ERROR', status: 422 }],
    },
    async ({ deps, actor, user, query }) => {
      const { folder, tags, classifier, mime_type, visibility, space_id, trashed } = query;
      const search = parseSearch(query);
      if (trashed) {
        refuseFilters({ folder, tags, classifier, mime_type, visibility, ...searchIn(query) });
        return listTrash(deps, actor, user.id, visibleSpace(actor, space_id), query);
      }
      const filter = {
        space: visibleSpace(actor, space_id),
        folder: folder === undefined ? undefined : validateFolder(folder, 400),
        tags: tags?.flatMap(parseTagFilter),
        classifier,
        mimeType: mime_type === undefined ? undefined : parseTypeFilter(mime_type),
        visibility,
      };
      return search
        ? searchFiles(deps, actor, user.id, { ...filter, search }, query)
        : listUserFiles(deps, actor, user.id, filter, query);
    },
  ),
  route(
    {
      id: 'files.folders',
      method: 'GET',
      path: '/project/users/:user/files/folders',
      summary: 'List one level of the folder tree',
      description: `Folders first, by name, then the files directly in this folder, newest first. A page holds at most \`limit\` folders and files together. ${shortPages}`,
      access: reading,
      rateLimit: 'integration',
      audit: null,
      query: Type.Object({
        prefix: Type.Optional(Folder),
        space_id: Type.Optional(SpaceFilter),
        ...pageQuery(20),
      }),
      returns: {
        status: 200,
        body: Type.Object({
          prefix: FolderKept,
          folders: Type.Array(Type.String({ examples: ['2026'] })),
          files: Type.Array(FileView),
          next_cursor: NextCursor,
        }),
      },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, query }) => {
      const prefix = validateFolder(query.prefix ?? '', 400, 'prefix');
      return listFolder(deps, actor, user.id, prefix, visibleSpace(actor, query.space_id), query);
    },
  ),
  route(
    {
      id: 'files.read',
      method: 'GET',
      path: '/project/users/:user/files/:fileId',
      summary: 'Read a file and get a URL to download it',
      access: reading,
      rateLimit: 'integration',
      audit: 'file.download',
      params,
      returns: { status: 200, body: Type.Object({ file: FileDetail }), headers: VersionHeaders },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { fileId }, call, audit }) => {
      const file = await readFile(deps, actor, user.id, fileId);
      call.setHeader('etag', versionOf(file.view));
      deps.auditQueue.add(audit, { resourceType: 'file', resourceId: fileId, userId: user.id });
      call.countDownload();
      return serializeDetail(deps, call.origin, file);
    },
  ),
  route(
    {
      id: 'files.update',
      method: 'PUT',
      path: '/project/users/:user/files/:fileId',
      summary: 'Change the metadata of a file',
      description: 'Changes the given fields only. null clears folder, tags, classifier and metadata.',
      access: writing,
      rateLimit: 'integration',
      audit: 'file.update',
      params,
      body: FileMeta,
      reads: { headers: IfMatchHeaders },
      returns: { status: 200, body: Type.Object({ file: FileView }), headers: VersionHeaders },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    },
    async ({ deps, actor, user, params: { fileId }, body, call, audit }) => {
      const file = await changeFile(deps, actor, user.id, fileId, body, call.headers['if-match'], audit);
      call.setHeader('etag', file.version);
      return { file: viewFile(file) };
    },
  ),
  route(
    {
      id: 'files.delete',
      method: 'DELETE',
      path: '/project/users/:user/files/:fileId',
      summary: 'Delete a file',
      description:
        'If the project keeps a trash, the file goes there, and `…/restore` brings it back. A file that is held by `retain_until` cannot be deleted.',
      access: deleting,
      rateLimit: 'integration',
      audit: 'file.delete',
      params,
      query: Type.Object({ permanent: Permanent }),
      reads: { headers: IfMatchHeaders },
      returns: { status: 204 },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'LOCKED'],
    },
    async ({ deps, actor, user, params: { fileId }, query: { permanent = false }, call, audit }) =>
      removeFile(deps, actor, user.id, fileId, { ifMatch: call.headers['if-match'], permanent }, audit),
  ),
];
