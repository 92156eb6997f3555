// The introduction of the OpenAPI document: credentials, callers, scopes and limits.
import type { ActorKind } from '../contract/actor.ts';
import type { Scope } from '../contract/scope.ts';

/** The kinds of callers: their credential, and what they may access. */
const callers: Readonly<Record<ActorKind, readonly [credential: string, confinedTo: string]>> = {
  admin: ['an admin session', 'everything below `/admin`, nothing below `/project`'],
  project: ['a project session or project key', 'everything in its project'],
  integration: [
    'an integration key',
    'its project, within its scopes; no access to keys, integrations, space management, plan changes and the audit log',
  ],
  user: [
    'a token from `tokens.mint` for one user',
    'that user, its spaces and all their files, within its scopes',
  ],
  space: [
    'a token from `spaces.login` for one space',
    'the files of that space, and read access to its user, within its scopes',
  ],
};

const scopeMeanings: Readonly<Record<Scope, string>> = {
  'users:read': 'list and read users and their storage, mint and revoke user tokens',
  'users:write': 'create, activate, deactivate and delete users',
  'files:read': 'list files and folders, read a file with its URL, poll image jobs',
  'files:write': 'upload files and images, change metadata',
  'files:delete': 'delete files',
  'files:share': 'share files by links, and take them back',
  'plans:read': 'list and read plans',
  'plans:assign': 'assign a plan to a user',
  'stats:read': 'read statistics of the project or of one user, and usage by day',
  'spaces:login': 'log in to spaces and revoke their sessions',
  'events:read': 'read and follow the events of the project',
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const guide = `Request fields are accepted in camelCase and in snake_case; unknown fields are ignored. Lists are paged with \`limit\` and \`cursor\`. Every error has the shape of \`Error\`. Every response has an X-Request-Id header.

## Which credential counts

One credential decides who calls. If a request has several, the first of these counts:

1. an API key (\`pak_…\`) in \`Authorization: Bearer\`
2. the cookie \`token\`
3. any other token in \`Authorization: Bearer\`

The others are ignored. If the one that counts is invalid, the response is 401: a browser that still sends the cookie of an expired session must delete it (\`POST /auth/logout\` does) before its Bearer token counts. An API key in the cookie gives 401 as well.

## Callers

Every operation lists its callers; others get 403.

${table(
  ['Caller', 'Credential', 'May access'],
  Object.entries(callers).map(([kind, words]) => [`\`${kind}\``, ...words]),
)}

For a user or space token, nothing outside its user or space exists: it gets 404.

## Scopes

If an operation names a scope, integrations, user tokens and space tokens need it. Projects have all scopes. (An operator can turn the checks off with \`SCOPE_ENFORCEMENT\`.)

${table(
  ['Scope', 'Allows to'],
  Object.entries(scopeMeanings).map(([scope, words]) => [`\`${scope}\``, words]),
)}

A user token never has more scopes than the credential that minted it, and loses scopes that its integration loses. A space token has the scopes of its space, regardless of who logged in.

## Rate limits

Below \`/project\`, an integration key is limited, and so are each user and each space whose token was obtained with it; each has its own count. The limit is that of the integration, else of its project, else of the installation. Sessions, project keys, tokens obtained with those, and integrations in \`devMode\` are not limited.

Responses to limited callers have the three X-RateLimit headers, errors included. A request from an origin that the integration does not allow is refused before it is counted. Over the limit, the response is 429 with \`Retry-After\`.

They also have \`RateLimit\` and \`RateLimit-Policy\`, as the current IETF draft defines them.

## Safe to repeat

A request that creates something takes an \`Idempotency-Key\`, a random string that you choose. If the answer is lost, send the same request with the same key: it is done once, and every repetition within 24 hours gets the first answer, with \`Idempotency-Replayed: true\`. Refusals are kept like successes, except 401, 403 and 429. While the first request is still being worked on, a repetition gets 409 with \`Retry-After\`; with other content it gets 422 \`IDEMPOTENCY_MISMATCH\`. A key belongs to the project (or the admin), the method and the path. A form is compared by its fields and the bytes of its file. A refusal that ends an upload before all of its file was read is not kept.

A file's detail has an \`ETag\`. Send it as \`If-Match\` when you change or delete the file: if somebody else has changed it meanwhile, the response is 412 and nothing is done.

## Limits on logins

- One client address may make 10 calls in 15 minutes to \`/auth/login\`, \`/auth/2fa/login\` and \`/auth/forgot-password\` together.
- If the installation trusts no proxy, client addresses can be forged: the address of the connection itself may make 1,000 such calls in 15 minutes.
- One account may have 20 wrong passwords in 15 minutes, and 20 wrong codes.
- A browser that has logged in to the account before, as the cookie \`pakhus_device\` proves, has separate limits: 10 failures of each kind. Failures of others do not lock it out, it does not queue behind their logins, and the limit on its connection does not apply. All such browsers of an account together may make 100 calls in 15 minutes. A password reset and \`POST /auth/logout-everywhere\` end this.
- One \`external_id\` of a space may fail 10 times in 15 minutes, whether the space exists or not.

After too many failures, that account or space is locked: even the right password gets 429, until \`Retry-After\` has passed or, after wrong passwords, a new password is set. The lock does not affect the caller: an integration can still log in to other spaces, although the X-RateLimit headers of this response are those of the lock. A successful login resets the count.`;

/** By tag: the first part of the ids of its routes. */
export const tagWords: Readonly<Record<string, string>> = {
  health: 'Whether the service works.',
  auth: 'Logging in and out as admin or project, passwords, and two-factor login.',
  projects: 'Tenants, managed by the admin.',
  settings: 'Settings of the whole installation, for the admin.',
  keys: 'API keys with full access to their project.',
  integrations: 'API keys with their own scopes, allowed origins and rate limit.',
  plans: 'Limits for users: total storage, file size, file types.',
  users: 'End-users of a project, with their plan and storage.',
  tokens: 'Tokens that act for one user.',
  spaces: 'Parts of the storage of a user, with their own login and limit.',
  files: 'Uploading, finding, changing, deleting and downloading files.',
  batch: 'The same change to many files, all or none.',
  copies: 'Copies of files, made inside the object store.',
  folders: 'Folders as a whole: moved or deleted with everything below them.',
  trash: 'Deleted files that can come back, and how long the project keeps them.',
  shares: 'Links to files that anybody may open, until they expire or are taken back.',
  uploads:
    'Uploads that survive a cut connection: by tus, by the IETF draft, or straight to the object store.',
  images: 'Images, which are compressed in the background, and their jobs.',
  variants: 'Sizes and formats in which images can be read, made on demand.',
  events: 'Every change, in one order, to read page by page or to follow.',
  webhooks: 'Events posted to your own server, signed, and repeated until they are received.',
  stats: 'Traffic and storage statistics.',
  usage: 'What each user stored and did, day by day, for bills.',
  audit: 'Who did what, and when.',
  reference: 'This document and the pages that show it.',
};
