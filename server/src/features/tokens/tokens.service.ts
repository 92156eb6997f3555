// User tokens: minted with a subset of the caller's scopes, revoked for good.
import { grantOf, type IntegrationActor, type ProjectActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { isWithin, listScopes, type Scope, withoutRepeats } from '../../contract/scope.ts';
import type { Subject } from '../../contract/subject.ts';
import { isoOf } from '../../kernel/clock.ts';
import { PakhusError } from '../../kernel/error.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { sql } from '../../platform/db/sql.ts';
import { recordAudit } from '../audit/audit.service.ts';

/** Longer than the longest lifetime that can be configured for a token. */
const revocationLife = '366 days';

export async function mintUserToken(
  deps: Deps,
  actor: ProjectActor | IntegrationActor,
  user: Subject,
  wanted: readonly Scope[] | undefined,
  audit: AuditStamp,
) {
  if (!user.active)
    throw new PakhusError('FORBIDDEN', 'The user is not active: activate it before you mint tokens for it');
  const grant = grantOf(actor);
  const scopes = wanted ? withoutRepeats(wanted) : listScopes(grant);
  if (!isWithin(scopes, grant)) {
    const excess = scopes.filter((scope) => !isWithin([scope], grant));
    throw new PakhusError('FORBIDDEN', `You can only grant scopes you hold; missing: ${excess.join(', ')}`, {
      details: { excess_scopes: excess },
    });
  }
  const { token, jti, expiresAtMs } = deps.tokens.sign({
    sub: user.id,
    role: 'user',
    pid: actor.projectId,
    iid: actor.kind === 'integration' ? actor.integrationId : null,
    akid: actor.keyId,
    scopes,
    ttlMs: deps.settings.USER_TOKEN_TTL_SECONDS * 1000,
  });
  const expiresAt = isoOf(expiresAtMs);
  await projectTransaction(deps, actor.projectId, (tx) =>
    recordAudit(tx, audit, {
      resourceType: 'token',
      resourceId: jti,
      userId: user.id,
      metadata: { scopes, expires_at: expiresAt },
    }),
  );
  return { token, jti, user_id: user.id, scopes, expires_at: expiresAt };
}

/** Only for this user: another user's token with that jti stays valid. */
export async function revokeUserToken(
  deps: Deps,
  projectId: string,
  user: Subject,
  jti: string,
  audit: AuditStamp,
): Promise<void> {
  await projectTransaction(deps, projectId, async (tx) => {
    await tx.query(sql`insert into revoked_tokens (jti, subject_id, expires_at)
      values (${jti}, ${user.id}, now() + ${revocationLife}::interval) on conflict do nothing`);
    await recordAudit(tx, audit, { resourceType: 'token', resourceId: jti, userId: user.id });
  });
}
