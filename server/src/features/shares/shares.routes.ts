// Shares over HTTP, for those who own the files. The pages behind the links are in http/share-pages.ts.

import { route } from '../../contract/route.ts';
import { Listing, Page, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import {
  changeShare,
  createShare,
  listFileShares,
  listUserShares,
  readShare,
  removeShare,
} from './shares.service.ts';
import { ShareChange, ShareInput, ShareUrl, ShareView, viewShare } from './shares.wire.ts';

const sharing = {
  access: { actors: ['project', 'integration', 'user', 'space'], scope: 'files:share' },
  rateLimit: 'integration',
} as const;
const ofFile = Type.Object({ fileId: Uuid });
const ofShare = Type.Object({ fileId: Uuid, shareId: Uuid });
const oneShare = Type.Object({ share: ShareView });

export const shareRoutes = [
  route(
    {
      id: 'shares.listAll',
      method: 'GET',
      path: '/project/users/:user/shares',
      summary: "List the shares of all of a user's files",
      description: 'Newest first. A space token sees those of the files in its space.',
      ...sharing,
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('shares', ShareView) },
      errors: [],
    },
    async ({ deps, actor, user, query }) => {
      const { rows, next_cursor } = await listUserShares(deps, actor, user.id, query);
      return { shares: rows.map(viewShare), next_cursor };
    },
  ),
  route(
    {
      id: 'shares.list',
      method: 'GET',
      path: '/project/users/:user/files/:fileId/shares',
      summary: 'List the shares of a file',
      description: 'Newest first.',
      ...sharing,
      audit: null,
      params: ofFile,
      query: Page(),
      returns: { status: 200, body: Listing('shares', ShareView) },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { fileId }, query }) => {
      const { rows, next_cursor } = await listFileShares(deps, actor, user.id, fileId, query);
      return { shares: rows.map(viewShare), next_cursor };
    },
  ),
  route(
    {
      id: 'shares.create',
      method: 'POST',
      path: '/project/users/:user/files/:fileId/shares',
      summary: 'Share a file by a link',
      description:
        'Whoever has the link can download the file, without a credential: it opens a page with the name, the size and a button, and below it `/download` gives the bytes, with ranges. Revoked, expired or used up, or once the file is gone or its user, space or project inactive, it leads to nothing, from the next request on. An interrupted download that is resumed with `Range` and `If-Range` counts once; every other download counts. After 10 wrong passwords within 15 minutes a share answers 429. At most 100 per file.',
      ...sharing,
      idempotent: true,
      audit: 'share.create',
      params: ofFile,
      body: ShareInput,
      returns: { status: 201, body: Type.Object({ share: ShareView, url: ShareUrl }) },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    async ({ deps, actor, user, params: { fileId }, body, call, audit }) => {
      const { share, token } = await createShare(deps, actor, user.id, fileId, body, audit);
      return { share: viewShare(share), url: `${call.origin}/s/${token}` };
    },
  ),
  route(
    {
      id: 'shares.read',
      method: 'GET',
      path: '/project/users/:user/files/:fileId/shares/:shareId',
      summary: 'Read a share',
      ...sharing,
      audit: null,
      params: ofShare,
      returns: { status: 200, body: oneShare },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { fileId, shareId } }) => ({
      share: viewShare(await readShare(deps, actor, user.id, fileId, shareId)),
    }),
  ),
  route(
    {
      id: 'shares.update',
      method: 'PUT',
      path: '/project/users/:user/files/:fileId/shares/:shareId',
      summary: 'Change a share',
      description:
        'Changes only the given fields; the link stays the same. `active: false` revokes it, `active: true` takes that back. Null removes the password, the expiry, the limit or the name.',
      ...sharing,
      audit: 'share.update',
      params: ofShare,
      body: ShareChange,
      returns: { status: 200, body: oneShare },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { fileId, shareId }, body, audit }) => ({
      share: viewShare(await changeShare(deps, actor, user.id, fileId, shareId, body, audit)),
    }),
  ),
  route(
    {
      id: 'shares.delete',
      method: 'DELETE',
      path: '/project/users/:user/files/:fileId/shares/:shareId',
      summary: 'Delete a share',
      description: 'Its link leads to nothing from the next request on.',
      ...sharing,
      audit: 'share.delete',
      params: ofShare,
      returns: { status: 204 },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { fileId, shareId }, audit }) =>
      removeShare(deps, actor, user.id, fileId, shareId, audit),
  ),
];
