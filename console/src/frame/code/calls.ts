// The same requests as calls of @pakhus/client. One row for each route that the console uses.
import { matchPath, type Params } from '../router.tsx';
import type { RecordedRequest } from './record.ts';

/** `$name` is a parameter of the path, `$query` and `$body` what was sent. `$feed` is a query of the feed, which goes on without end. */
export const calls: readonly (readonly [method: string, pattern: string, call: string])[] = [
  ['GET', '/health', 'client.health()'],
  ['POST', '/auth/login', 'client.auth.login($body)'],
  ['POST', '/auth/logout', 'client.auth.logout()'],
  ['POST', '/auth/logout-everywhere', 'client.auth.logoutEverywhere()'],
  ['PUT', '/auth/change-password', 'client.auth.changePassword($body)'],
  ['POST', '/auth/forgot-password', 'client.auth.forgotPassword(email)'],
  ['POST', '/auth/reset-password', 'client.auth.resetPassword($body)'],
  ['POST', '/auth/2fa/login', 'client.auth.twoFactor.login($body)'],
  ['GET', '/auth/2fa/status', 'client.auth.twoFactor.status()'],
  ['POST', '/auth/2fa/enroll', 'client.auth.twoFactor.enroll()'],
  ['POST', '/auth/2fa/activate', 'client.auth.twoFactor.activate(code)'],
  ['POST', '/auth/2fa/disable', 'client.auth.twoFactor.disable(code)'],
  ['GET', '/admin/projects', 'client.admin.projects.list($query)'],
  ['POST', '/admin/projects', 'client.admin.projects.create($body)'],
  ['GET', '/admin/projects/:id', 'client.admin.projects.get($id)'],
  ['PATCH', '/admin/projects/:id', 'client.admin.projects.update($id, $body)'],
  ['PATCH', '/admin/projects/:id/status', 'client.admin.projects.setActive($id, $active)'],
  ['POST', '/admin/projects/:id/rotate-key', 'client.admin.projects.rotateKey($id)'],
  ['DELETE', '/admin/projects/:id', 'client.admin.projects.delete($id)'],
  ['GET', '/admin/stats/global', 'client.admin.stats.global()'],
  ['GET', '/admin/stats/projects', 'client.admin.stats.projects($query)'],
  ['GET', '/admin/audit', 'client.admin.audit.list($query)'],
  ['GET', '/admin/settings/audit-retention', 'client.admin.settings.getAuditRetention()'],
  ['PUT', '/admin/settings/audit-retention', 'client.admin.settings.setAuditRetention($body)'],
  ['GET', '/admin/settings/rate-limit', 'client.admin.settings.getRateLimit()'],
  ['PUT', '/admin/settings/rate-limit', 'client.admin.settings.setRateLimit($body)'],
  ['GET', '/project/stats/overview', 'client.project.stats.overview()'],
  ['GET', '/project/stats/files', 'client.project.stats.files()'],
  ['GET', '/project/stats/storage', 'client.project.stats.storage()'],
  ['GET', '/project/stats/requests', 'client.project.stats.requests()'],
  ['GET', '/project/usage', 'client.project.usage($query)'],
  ['GET', '/project/audit', 'client.project.audit.list($query)'],
  ['GET', '/project/plans', 'client.project.plans.list($query)'],
  ['POST', '/project/plans', 'client.project.plans.create($body)'],
  ['GET', '/project/plans/:id', 'client.project.plans.get($id)'],
  ['PUT', '/project/plans/:id', 'client.project.plans.update($id, $body)'],
  ['PUT', '/project/plans/:id/default', 'client.project.plans.makeDefault($id)'],
  ['DELETE', '/project/plans/:id', 'client.project.plans.delete($id)'],
  ['GET', '/project/keys', 'client.project.keys.list($query)'],
  ['POST', '/project/keys', 'client.project.keys.create($body)'],
  ['DELETE', '/project/keys/:id', 'client.project.keys.revoke($id)'],
  ['GET', '/project/integrations', 'client.project.integrations.list($query)'],
  ['POST', '/project/integrations', 'client.project.integrations.create($body)'],
  ['GET', '/project/integrations/:id', 'client.project.integrations.get($id)'],
  ['PUT', '/project/integrations/:id', 'client.project.integrations.update($id, $body)'],
  ['DELETE', '/project/integrations/:id', 'client.project.integrations.delete($id)'],
  ['POST', '/project/integrations/:id/rotate-key', 'client.project.integrations.rotateKey($id)'],
  ['GET', '/project/events', 'client.project.events($feed)'],
  ['GET', '/project/webhooks', '(await client.project.webhooks()).list($query)'],
  ['POST', '/project/webhooks', '(await client.project.webhooks()).create($body)'],
  ['GET', '/project/webhooks/:id', '(await client.project.webhooks()).get($id)'],
  ['PUT', '/project/webhooks/:id', '(await client.project.webhooks()).update($id, $body)'],
  ['DELETE', '/project/webhooks/:id', '(await client.project.webhooks()).delete($id)'],
  ['POST', '/project/webhooks/:id/rotate-secret', '(await client.project.webhooks()).rotateSecret($id)'],
  ['POST', '/project/webhooks/:id/test', '(await client.project.webhooks()).test($id)'],
  ['GET', '/project/webhooks/:id/deliveries', '(await client.project.webhooks()).deliveries($id, $query)'],
  [
    'POST',
    '/project/webhooks/:id/deliveries/:deliveryId/replay',
    '(await client.project.webhooks()).replay($id, $deliveryId)',
  ],
  ['GET', '/project/users', 'client.users.list($query)'],
  ['POST', '/project/users', 'client.users.create($body)'],
  ['GET', '/project/jobs/:id', 'client.jobs.get($id)'],
  ['GET', '/project/users/:user', '$user.get()'],
  ['PUT', '/project/users/:user', '$user.update($body)'],
  ['DELETE', '/project/users/:user', '$user.delete()'],
  ['PUT', '/project/users/:user/plan', '$user.assignPlan($planId)'],
  ['GET', '/project/users/:user/storage', '$user.storage()'],
  ['GET', '/project/users/:user/stats', '$user.stats()'],
  ['POST', '/project/users/:user/tokens', '$user.tokens.mint($body)'],
  ['POST', '/project/users/:user/tokens/revoke', '$user.tokens.revoke(jti)'],
  ['GET', '/project/users/:user/spaces', '$user.spaces.list($query)'],
  ['POST', '/project/users/:user/spaces', '$user.spaces.create($body)'],
  ['GET', '/project/users/:user/spaces/:id', '$user.spaces.get($id)'],
  ['PUT', '/project/users/:user/spaces/:id', '$user.spaces.update($id, $body)'],
  ['DELETE', '/project/users/:user/spaces/:id', '$user.spaces.delete($id)'],
  ['PUT', '/project/users/:user/spaces/:id/credentials', '$user.spaces.setPassword($id, password)'],
  ['GET', '/project/users/:user/files', '$user.files.list($query)'],
  ['GET', '/project/users/:user/files/folders', '$user.files.folders($query)'],
  ['POST', '/project/users/:user/files', '$user.files.upload(file, $form)'],
  ['GET', '/project/users/:user/files/:id', '$user.files.get($id)'],
  ['PUT', '/project/users/:user/files/:id', '$user.files.update($id, $body)'],
  ['DELETE', '/project/users/:user/files/:id', '$user.files.delete($id)'],
  ['GET', '/project/users/:user/uploads', '$user.uploads.list($query)'],
  ['POST', '/project/users/:user/uploads', '$user.files.upload(file, $body)'],
  ['GET', '/project/users/:user/uploads/:id', '$user.uploads.get($id)'],
  ['DELETE', '/project/users/:user/uploads/:id', '$user.uploads.cancel($id)'],
];

interface Match {
  readonly pattern: string;
  readonly call: string;
  readonly params: Params;
}

function findMatch({ method: used, path }: RecordedRequest): Match | null {
  for (const [method, pattern, call] of calls) {
    const params = method === used ? matchPath(pattern, path) : null;
    if (params) return { pattern, call, params };
  }
  return null;
}

export function toCall(request: RecordedRequest): string | null {
  const match = findMatch(request);
  if (!match) return null;
  const call = fill(match.call, match.params, request);
  const isFeed = match.call.endsWith('($feed)');
  return isFeed ? `for await (const event of ${call}) console.log(event);` : `await ${call};`;
}

/** Of several reads by the same call, such as one for each thumbnail, the newest is enough. */
export function withoutRepeats(requests: readonly RecordedRequest[]): readonly RecordedRequest[] {
  const seen = new Set<string>();
  return requests.filter((request) => {
    const pattern = findMatch(request)?.pattern ?? request.path;
    if (request.method !== 'GET') return true;
    if (seen.has(pattern)) return false;
    seen.add(pattern);
    return true;
  });
}

/** Lists are async iterators; their page is what the console reads. */
function fill(call: string, params: Params, { query, body, form }: RecordedRequest): string {
  const { user, ...rest } = params;
  const values: Record<string, unknown> = { ...Object(body), ...rest };
  const isList = /\.(list|folders|projects|deliveries)\(.*\$query\)$/.test(call);
  const literals: Readonly<Record<string, () => string>> = {
    user: () => `client.user({ id: ${JSON.stringify(user)} })`,
    query: () => toLiteral(withoutCursor(query)),
    feed: () => toLiteral(toFeedOptions(query)),
    body: () => toLiteral(body),
    form: () => toLiteral(withoutFile(form)),
  };
  // In one pass: what people typed may look like a placeholder.
  const filled = call
    .replace(/\$(\w+)/g, (_all, name: string) => literals[name]?.() ?? JSON.stringify(values[name]))
    .replace(/, \)$/, ')');
  return isList ? `${filled}.page()` : filled;
}

const withoutCursor = ({ cursor: _cursor, ...query }: Readonly<Record<string, string>>) => query;

/** The client waits by itself, and takes a list of types. */
const toFeedOptions = ({ from, types }: Readonly<Record<string, string>>) => ({
  ...(from && { from }),
  ...(types && { types: types.split(',') }),
});

function withoutFile(form: Readonly<Record<string, string>> | null) {
  const { file: _file, image: _image, ...fields } = form ?? {};
  return fields;
}

/** Empty for nothing, so that the call stays short. */
function toLiteral(value: unknown): string {
  if (value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0))
    return '';
  return JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll(/"([A-Za-z_]\w*)":/g, '$1:');
}
