// What the OpenAPI document says to its readers before the first operation: who may call, with what, and how often.
import type { ActorKind } from '../contract/actor.ts';
import type { Scope } from '../contract/scope.ts';

/** Whom a credential makes of its bearer, and what that caller is confined to. */
const callers: Readonly<Record<ActorKind, readonly [credential: string, confinedTo: string]>> = {
  admin: ['the session of the admin', 'everything below `/admin`, and nothing below `/project`'],
  project: ['a session or a key of a project', 'its project, and all of that'],
  integration: [
    'the key of an integration',
    'its project, as far as its scopes reach; keys, integrations, the management of spaces, changes of plans and the audit log are not for it',
  ],
  user: [
    'a token that `tokens.mint` gave out for one user',
    'that user with its spaces, its files and those of its spaces, as far as its scopes reach',
  ],
  space: [
    'a token that `spaces.login` gave out for one space',
    'the files of that space, and what there is to read about its user, as far as its scopes reach',
  ],
};

const scopeWords: Readonly<Record<Scope, string>> = {
  'users:read': 'list users, read one and what it stores, mint and revoke its tokens',
  'users:write': 'create, activate, deactivate and delete users',
  'files:read': 'list files and folders, read a file with its URL, follow the job of an image',
  'files:write': 'upload files and images, change the metadata of a file',
  'files:delete': 'delete files',
  'plans:read': 'list and read plans',
  'plans:assign': 'put a user on a plan',
  'stats:read': 'read the numbers of the project or of one user',
  'spaces:login': 'log in to spaces and end their sessions',
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const guide = `Request fields are accepted in camelCase and in snake_case; fields that are not known are ignored. Lists are paged with \`limit\` and \`cursor\`. Every error has the shape of \`Error\`. Every answer carries X-Request-Id.

## Which credential counts

One credential decides who calls. Of several in a request it is the first of these:

1. an API key (\`pak_…\`) in \`Authorization: Bearer\`
2. the cookie \`token\`
3. any other token in \`Authorization: Bearer\`

The others are not looked at. If the one that counts is not good, the answer is 401 whatever came with it: a browser that still sends the cookie of a session that is over has to drop it (\`POST /auth/logout\` does so) before a Bearer token is heard. An API key in the cookie is 401 as well.

## Callers

Every operation names the callers that it is open to; others get 403.

${table(
  ['Caller', 'Credential', 'Confined to'],
  Object.entries(callers).map(([kind, words]) => [`\`${kind}\``, ...words]),
)}

To a user or space token, whatever lies outside of its user or space does not exist: 404.

## Scopes

Where an operation names a scope, an integration, a user token or a space token needs it. Projects have all of them. (An operator may have set \`SCOPE_ENFORCEMENT\` so that scopes are not checked.)

${table(
  ['Scope', 'Allows to'],
  Object.entries(scopeWords).map(([scope, words]) => [`\`${scope}\``, words]),
)}

A user token has no scope that its maker lacks, and loses those that the integration behind it loses. A space token has the scopes of its space, whoever logged it in.

## Rate limits

Below \`/project\`, the key of an integration is limited, and so is every user and every space whose token was obtained with it, each by a count of its own. The numbers are those of the integration, else of its project, else of the installation. Sessions, project keys, tokens that they obtained, and integrations in \`devMode\` are not limited.

Whoever is limited finds the three X-RateLimit headers in its answers, errors included. A request from an origin that the integration does not allow is refused before it is counted. One request too many is 429, and \`Retry-After\` says for how long.

## Limits on logins

- One client address has 10 calls in 15 minutes to \`/auth/login\`, \`/auth/2fa/login\` and \`/auth/forgot-password\` together.
- Where the installation trusts no proxy, client addresses can be forged: the address of the connection itself has 1,000 such calls in 15 minutes.
- One account may fail 20 times in 15 minutes by a wrong password, and as often by a wrong code.
- A browser that has logged in to the account before, as the cookie \`pakhus_device\` shows, has 10 failures of each kind of its own. It is not locked out by the failures of others, does not queue behind their logins, and the bound of its connection does not count for it; all such browsers of an account have 100 calls in 15 minutes together. A password reset ends that.
- One \`external_id\` of a space may fail 10 times in 15 minutes, whether there is such a space or not.

A 429 after too many failures locks that one account or space for everybody else, the right password included, until \`Retry-After\` has passed or, after wrong passwords, a new one is set. It says nothing about the caller: an integration goes on logging in to other spaces, although the X-RateLimit headers of this answer are those of the lock. A login that succeeds begins the count anew.`;

/** By tag, which is what the ids of its routes begin with. */
export const tagWords: Readonly<Record<string, string>> = {
  health: 'Whether the service works.',
  auth: 'Logging in and out as admin or project, passwords, and two-factor login.',
  projects: 'The tenants, managed by the admin.',
  settings: 'What holds for the whole installation, set by the admin.',
  keys: 'API keys with all authority over their project.',
  integrations: 'API keys with scopes, allowed origins and a rate limit of their own.',
  plans: 'What users may store: how much, how large, of which types.',
  users: 'The end-users of a project, with their plan and what they store.',
  tokens: 'Tokens that act for one user.',
  spaces: 'Parts of the storage of a user, with a login and a limit of their own.',
  files: 'Uploading, finding, changing, deleting and downloading files.',
  images: 'Images that are compressed in the background, and their jobs.',
  stats: 'Traffic and storage in numbers.',
  audit: 'Who did what, and when.',
  reference: 'This document, and pages that show it.',
};
