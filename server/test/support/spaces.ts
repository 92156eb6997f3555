// Creates a space and a live token directly in the database, for tests of callers that need one without logging in.
import { onServer } from './database.ts';
import type { TestPakhus } from './pakhus.ts';
import { unique } from './tenants.ts';

type Grant = Parameters<TestPakhus['pakhus']['deps']['tokens']['sign']>[0]['scopes'];

export interface LiveSpace {
  readonly id: string;
  readonly token: string;
  readonly jti: string;
}

export async function createLiveSpace(
  service: TestPakhus,
  projectId: string,
  userId: string,
  scopes: readonly string[],
  integrationId: string | null = null,
): Promise<LiveSpace> {
  const { rows } = await onServer(
    service.databaseUrl,
    `insert into spaces (project_id, user_id, external_id, name, scopes)
     values ('${projectId}', '${userId}', '${unique('space')}', 'a space', '{${scopes.join(',')}}') returning id`,
  );
  const { id } = rows[0] as { id: string };
  const { token, jti } = service.pakhus.deps.tokens.sign({
    sub: id,
    role: 'space',
    pid: projectId,
    uid: userId,
    iid: integrationId,
    scopes: scopes as NonNullable<Grant>,
    ttlMs: 3_600_000,
  });
  await onServer(service.databaseUrl, `update spaces set session_jti = '${jti}' where id = '${id}'`);
  return { id, token, jti };
}
