// The HTTP shapes of files and of the metadata that callers set.

import type { FileRow } from '../../contract/file.ts';
import { JobView, viewJob } from '../../contract/image-job.ts';
import {
  Bytes,
  Choice,
  controls,
  DateOrTime,
  Named,
  Nullable,
  resourceFields,
  Timestamp,
  Uuid,
} from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';

export const Visibility = Choice(['private', 'public'], { 'x-name': 'Visibility' });
const segment = `(?!\\.{1,2}(?:/|$))[^/${controls}]+`;
/** For the document only: `parseFolder` enforces the rules and names the broken one. */
const folderPattern = `^/*(?:${segment}(?:/${segment})*)?/*$`;
/** `parseFolder` limits the trimmed folder to 512 characters; this bound only limits the work. */
export const Folder = Type.String({
  maxLength: 1024,
  'x-shown': { maxLength: 512, pattern: folderPattern },
  description:
    'A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters.',
  examples: ['invoices/2026'],
});
export const FolderKept = Type.String({ maxLength: 512, examples: ['invoices/2026'] });
export const Tag = Type.String({ minLength: 1, maxLength: 64, pattern: '\\S', examples: ['paid'] });
export const Tags = Type.Array(Tag, {
  maxItems: 32,
  description:
    'Tags are trimmed, and duplicates are removed. To filter by a tag that contains a comma, send a JSON array.',
  examples: [['paid', 'q1']],
});
export const Classifier = Type.String({ minLength: 1, maxLength: 255, examples: ['invoice'] });
const FreeJson = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'Any JSON object of at most 16 KiB (numbers counted without exponents) and 32 levels. The name `__proto__` is not allowed. Numbers are doubles, as in JavaScript: send integers above 9007199254740991 as strings.',
    examples: [{ order: 42 }],
  },
);

export const digestPattern = '^[0-9a-fA-F]{64}$';

export const Sha256 = Type.String({
  pattern: digestPattern,
  description: 'SHA-256 of the file, in hex. If it does not match, the upload is refused.',
  examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
});
export const SpaceFilter = Type.String({
  pattern: '^(none|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
  description:
    'The id of a space, or `none` for files outside of spaces. A space token always sees its own space only.',
  examples: ['none', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'],
});

/** Shared by upload and update; null clears. */
export const FileMeta = Named('FileChange', {
  folder: Type.Optional(Nullable(Folder)),
  tags: Type.Optional(Nullable(Tags)),
  classifier: Type.Optional(Nullable(Classifier)),
  metadata: Type.Optional(Nullable(FreeJson)),
  visibility: Type.Optional(Visibility),
  expires_at: Type.Optional(
    Nullable(
      DateOrTime(
        'When the file is deleted, or goes to the trash if the project keeps one; null: never. A time to come.',
        '2027-01-31T12:00:00Z',
      ),
    ),
  ),
  retain_until: Type.Optional(
    Nullable(
      DateOrTime(
        'Until then the file cannot be deleted, and neither can its user or project; its metadata can change. Only the project owner may set it, and only to a later time than before.',
        // Most callers may not set it.
        null,
      ),
    ),
  ),
});

export const FilePart = Type.String({ format: 'binary', examples: ['(bytes)'] });
export const MetaPart = Type.Optional(
  Type.String({
    description:
      'The fields below as one JSON object. A field that is also sent separately overrides the one in here.',
    examples: ['{"folder":"invoices/2026"}'],
  }),
);

/** For the descriptions of the routes that take a form. */
export const formRules = `Parts may come in any order, with exactly one file among them, which has a file name. What is said about the file is one \`meta\` part with JSON, or single fields, or both: a single field wins over the same one in \`meta\`, and of a field that is repeated the last counts.

\`tags\` as a field is a JSON array, or text with commas between the tags, and it may be repeated: all of them count. A tag with a comma in it therefore needs JSON. \`metadata\` as a field is JSON.

A form has at most 64 parts beside the file, each of at most 64 KiB, and all of them of 256 KiB together. Fields with names that are not known are ignored.`;

export const UploadHeaders = Type.Object({
  'Content-Digest': Type.Optional(
    Type.String({
      description:
        'SHA-256 of the file or of the whole body, in base64 (RFC 9530). A mismatch is refused with 422; other algorithms are ignored.',
      examples: ['sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'],
    }),
  ),
});

export const uploadFields = {
  ...FileMeta.properties,
  space_id: Type.Optional(Nullable(Uuid)),
  sha256: Type.Optional(Sha256),
};

/**
 * The same fields, as documented for forms. Pages send empty fields that the user left alone, so empty counts as absent;
 * without the empty examples the API reference would prefill an invented id and digest.
 */
export const formFields = {
  ...uploadFields,
  space_id: Type.Optional(
    Type.String({
      pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$',
      description: 'The space to store the file in. Absent or empty: outside of spaces.',
      examples: [''],
    }),
  ),
  sha256: Type.Optional(
    Type.String({
      pattern: '^([0-9a-fA-F]{64})?$',
      description: 'SHA-256 of the file, in hex, or empty. If it does not match, the upload is refused.',
      examples: [''],
    }),
  ),
  expires_at: Type.Optional(
    Type.String({
      description:
        'When the file is deleted, or goes to the trash if the project keeps one: a time to come, or empty.',
      examples: [''],
    }),
  ),
  retain_until: Type.Optional(
    Type.String({
      description:
        'Until then the file cannot be deleted: a time to come, or empty. Only the project owner may set it.',
      examples: [''],
    }),
  ),
};

export type FileMetaInput = Static<typeof FileMeta>;

const fileFields = {
  ...resourceFields,
  user_id: Uuid,
  space_id: Nullable(Uuid),
  name: Type.String({ examples: ['invoice.pdf'] }),
  size: Bytes('Of the upload.'),
  mimeType: Type.String({ description: 'The type of the upload.', examples: ['application/pdf'] }),
  storageKey: Type.String({
    examples: ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff/7c9e6679-7425-40de-944b-e07fc1f90ae7'],
  }),
  sha256: Nullable(
    Type.String({
      description: 'SHA-256 of the upload, in hex. Null for a moment after a direct upload without one.',
      examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    }),
  ),
  folder: FolderKept,
  tags: Type.Array(Type.String(), { examples: [['paid', 'q1']] }),
  classifier: Nullable(Type.String({ examples: ['invoice'] })),
  metadata: Type.Object({}, { additionalProperties: true, examples: [{ order: 42 }] }),
  visibility: Visibility,
  expires_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the file goes. Absent if it does not.',
      examples: ['2027-01-31T12:00:00.000Z'],
    }),
  ),
  retain_until: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Until then the file is held. Absent if it never was.',
      examples: ['2027-01-31T12:00:00.000Z'],
    }),
  ),
  compression: Nullable(JobView),
};

/** Not named `File`, which is a built-in type in browsers. */
export const FileView = Named('StoredFile', fileFields);

/** In the trash. A file of the list has these fields too if `trashed=true` asked for it. */
export const ListedFile = Named('ListedFile', {
  ...fileFields,
  trashed_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When it was deleted. Only in the list of the trash.',
      examples: ['2026-01-31T12:00:00.000Z'],
    }),
  ),
  purge_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When it is deleted for good. Only in the list of the trash.',
      examples: ['2026-03-02T12:00:00.000Z'],
    }),
  ),
});

/** Repeats the fields instead of using `allOf`, which not every generator turns into one type. */
export const FileDetail = Named('FileDetail', {
  ...fileFields,
  url: Type.String({
    description: 'Downloads the file without a credential.',
    examples: ['https://files.example.com/...'],
  }),
  url_expires_at: Nullable(Timestamp),
});

export interface FileUrl {
  url: string;
  url_expires_at: string | null;
}

export const IfMatchHeaders = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description:
        'The ETag of the file as you read it. If the file has changed since then, nothing is done and the response is 412.',
      examples: ['"pZGm1Av0IEBKARczz7exkN"'],
    }),
  ),
});

export const VersionHeaders = Type.Object({
  ETag: Type.String({
    description: 'The version of the file: it changes with every change of its metadata or content.',
    examples: ['"pZGm1Av0IEBKARczz7exkN"'],
  }),
});

export function viewDetail(row: FileRow, { url, url_expires_at }: FileUrl): Static<typeof FileDetail> {
  // Assigning is cheaper than spreading both into a third object.
  const view: Static<typeof FileView> & Partial<FileUrl> = viewFile(row);
  view.url = url;
  view.url_expires_at = url_expires_at;
  return view as Static<typeof FileDetail>;
}

export const viewFile = (row: FileRow): Static<typeof FileView> => ({
  id: row.id,
  user_id: row.user_id,
  space_id: row.space_id,
  name: row.name,
  size: row.size,
  mimeType: row.mime_type,
  storageKey: row.storage_key,
  sha256: row.sha256,
  folder: row.folder,
  tags: row.tags,
  classifier: row.classifier,
  metadata: row.metadata,
  visibility: row.visibility,
  compression: row.compression && viewJob(row.compression),
  created_at: row.created_at,
  updated_at: row.updated_at,
  ...(row.expires_at === null ? {} : { expires_at: row.expires_at }),
  ...(row.retain_until === null ? {} : { retain_until: row.retain_until }),
});
