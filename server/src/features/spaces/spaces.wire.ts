// HTTP shapes of spaces. The password is write-only.

import { ScopeList } from '../../contract/scope.ts';
import {
  Bytes,
  ExternalId,
  Name,
  Named,
  Nullable,
  Password,
  resourceFields,
  Uuid,
} from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import type { SpaceRow } from './spaces.sql.ts';

const LimitBytes = Nullable(Bytes("A limit within the owner's quota; null for none."));
export const SpacePassword = Password(4);

export const SpaceView = Named('Space', {
  ...resourceFields,
  user_id: Uuid,
  external_id: ExternalId,
  name: Name,
  scopes: ScopeList,
  limit_bytes: LimitBytes,
  used_bytes: Bytes('Bytes stored in the space now.'),
  reserved_bytes: Bytes(
    'Bytes reserved in the space for unfinished uploads. The limit applies to both together.',
  ),
  active: Type.Boolean({ examples: [true] }),
  has_password: Type.Boolean({
    description: 'Whether the space can log in. If false, set a password with `PUT …/credentials`.',
    examples: [true],
  }),
});

export const NewSpace = Named('NewSpace', {
  external_id: ExternalId,
  name: Name,
  scopes: Type.Optional(ScopeList),
  limit_bytes: Type.Optional(LimitBytes),
  password: Type.Optional(SpacePassword),
});

export const SpaceChange = Named('SpaceChange', {
  name: Type.Optional(Name),
  scopes: Type.Optional(ScopeList),
  limit_bytes: Type.Optional(LimitBytes),
  active: Type.Optional(Type.Boolean({ examples: [true] })),
});

export type NewSpaceInput = Static<typeof NewSpace>;
export type SpaceChangeInput = Static<typeof SpaceChange>;

export const viewSpace = (row: SpaceRow): Static<typeof SpaceView> => ({
  id: row.id,
  user_id: row.user_id,
  external_id: row.external_id,
  name: row.name,
  scopes: row.scopes,
  limit_bytes: row.limit_bytes,
  used_bytes: row.used_bytes,
  reserved_bytes: row.reserved_bytes,
  active: row.active,
  has_password: row.has_password,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
