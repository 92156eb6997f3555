// CSRF and rate policies are fields of a route. These lists make it visible when a route gets another one.
import { expect, test } from 'vitest';
import { isPublic } from '../../src/contract/route.ts';
import { routes } from '../../src/http/route-table.ts';

const below = (prefix: string) => routes.filter(({ path }) => path.startsWith(prefix));

test('every route below /auth refuses cross-site requests and large bodies, and no other route does', () => {
  const isStrict = { csrf: 'always', bodyBytesMax: 16 * 1024 };
  expect(below('/auth/').length).toBeGreaterThan(10);
  for (const route of below('/auth/')) expect(route).toMatchObject(isStrict);
  expect(routes.filter(({ csrf, bodyBytesMax }) => csrf ?? bodyBytesMax)).toEqual(below('/auth/'));
});

test('every guarded route below /project follows the rate policy of the integration, and no other route does', () => {
  const guarded = below('/project/').filter(({ access }) => !isPublic(access));
  expect(routes.filter(({ rateLimit }) => rateLimit === 'integration')).toEqual(guarded);
});

test('three routes count against the limit on logins', () => {
  const ids = routes.filter(({ rateLimit }) => rateLimit === 'login').map(({ id }) => id);
  expect(ids).toEqual(['auth.login', 'auth.forgotPassword', 'auth.login2fa']);
});
