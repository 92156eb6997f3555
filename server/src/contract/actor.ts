// Who calls. One credential decides identity, CORS policy and rate policy.
import type { Grant, Scope } from './scope.ts';

export type ActorKind = 'admin' | 'project' | 'integration' | 'user' | 'space';

export interface AdminActor {
  readonly kind: 'admin';
  readonly accountId: string;
  readonly session: Session;
}

export interface ProjectActor {
  readonly kind: 'project';
  readonly projectId: string;
  /** Null when a project key calls. */
  readonly session: Session | null;
  readonly keyId: string | null;
}

export interface IntegrationActor {
  readonly kind: 'integration';
  readonly projectId: string;
  readonly integrationId: string;
  readonly keyId: string;
  readonly grant: readonly Scope[];
}

export interface UserActor {
  readonly kind: 'user';
  readonly projectId: string;
  readonly userId: string;
  /** The integration that minted the token; null if the project did. */
  readonly integrationId: string | null;
  /** The key that minted it; null if a session did. */
  readonly keyId: string | null;
  readonly jti: string;
  readonly grant: readonly Scope[];
}

export interface SpaceActor {
  readonly kind: 'space';
  readonly projectId: string;
  readonly userId: string;
  readonly spaceId: string;
  readonly integrationId: string | null;
  readonly keyId: string | null;
  readonly jti: string;
  readonly grant: readonly Scope[];
}

export type Actor = AdminActor | ProjectActor | IntegrationActor | UserActor | SpaceActor;

export type TenantActor = Exclude<Actor, AdminActor>;

export interface Session {
  readonly accountId: string;
  readonly jti: string;
  readonly email: string;
  readonly expiresAt: string;
}

export const grantOf = (actor: Actor): Grant => ('grant' in actor ? actor.grant : '*');

/** The only end-user that the actor may see, or null for all of the project. */
export const pinnedUserOf = (actor: Actor): string | null =>
  actor.kind === 'user' || actor.kind === 'space' ? actor.userId : null;

/** The only space that the actor may see, or null for all of a user. */
export const pinnedSpaceOf = (actor: Actor): string | null => (actor.kind === 'space' ? actor.spaceId : null);

/** How the audit log names an actor. */
export function attributionOf(actor: Actor): {
  actorType: 'admin' | 'project' | 'integration';
  actorId: string;
  actorKeyId: string;
} {
  switch (actor.kind) {
    case 'admin':
      return { actorType: 'admin', actorId: actor.accountId, actorKeyId: actor.session.jti };
    case 'project':
      return {
        actorType: 'project',
        actorId: actor.projectId,
        actorKeyId: actor.keyId ?? actor.session?.jti ?? '',
      };
    case 'integration':
      return { actorType: 'integration', actorId: actor.integrationId, actorKeyId: actor.keyId };
    default:
      return {
        actorType: 'integration',
        actorId: actor.integrationId ?? actor.projectId,
        actorKeyId: actor.jti,
      };
  }
}
