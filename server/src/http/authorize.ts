// May this actor call this route, for this end-user? For a delegated token, other users do not exist: it gets 404.
import { type Actor, type ActorKind, attributionOf, grantOf, pinnedUserOf } from '../contract/actor.ts';
import { userNotFound } from '../contract/refusals.ts';
import type { GuardedAccess } from '../contract/route.ts';
import { holds } from '../contract/scope.ts';
import type { Settings } from '../contract/settings.ts';
import type { Subject } from '../contract/subject.ts';
import { PakhusError } from '../kernel/error.ts';
import type { Logger } from '../platform/log.ts';

export function authorizeActor(actor: Actor, access: GuardedAccess): void {
  if (!access.actors.includes(actor.kind)) {
    throw new PakhusError(
      'FORBIDDEN',
      `This needs ${access.actors.map((kind) => callerNames[kind]).join(' or ')}: send another credential`,
      {
        details: { allowed: access.actors },
      },
    );
  }
  if (access.session && !('session' in actor && actor.session !== null)) {
    throw new PakhusError(
      'FORBIDDEN',
      'This needs a session, an API key is not enough: log in and send the session token',
    );
  }
}

const callerNames: Readonly<Record<ActorKind, string>> = {
  admin: 'an admin session',
  project: 'a project session or project key',
  integration: 'an integration key',
  user: 'a user token',
  space: 'a space token',
};

export function refuseForeignSubject(actor: Actor, subject: Subject | null): void {
  const pinned = pinnedUserOf(actor);
  if (pinned !== null && subject?.id !== pinned) throw userNotFound();
}

export function authorizeScope(
  actor: Actor,
  access: GuardedAccess,
  mode: Settings['SCOPE_ENFORCEMENT'],
  requestId: string,
  log: Logger,
): void {
  const { scope, scopeless } = access;
  if (!scope || scopeless?.includes(actor.kind) || mode === 'off' || holds(grantOf(actor), scope)) return;
  if (mode === 'enforce') {
    throw new PakhusError(
      'FORBIDDEN',
      `The credential lacks the scope ${scope}: grant it, or send another credential`,
      {
        details: { missing_scope: scope },
      },
    );
  }
  log.warn(
    { missing_scope: scope, actor: actor.kind, request_id: requestId, ...attributionOf(actor) },
    'a scope is missing; allowed by SCOPE_ENFORCEMENT=warn',
  );
}
