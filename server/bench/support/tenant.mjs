// A tenant to measure with, created through the API.
import { randomBytes } from 'node:crypto';
import { adminEmail, adminPassword } from './server.mjs';

/** A JSON call; throws on any error status. */
export async function call(server, method, path, { as, body } = {}) {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      ...(as ? { authorization: `Bearer ${as}` } : {}),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    body: body ? JSON.stringify(body) : undefined,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return text ? JSON.parse(text) : null;
}

/** A project with its key, a default plan, a user and a token of that user. */
export async function createTenant(server) {
  const suffix = randomBytes(6).toString('hex');
  const owner = { email: `bench-${suffix}@example.com`, password: 'a password of a tenant' };
  const { token: admin } = await call(server, 'POST', '/auth/login', {
    body: { email: adminEmail, password: adminPassword },
  });
  const { project, api_key: key } = await call(server, 'POST', '/admin/projects', {
    as: admin,
    body: {
      name: `bench ${suffix}`,
      ...owner,
    },
  });
  await call(server, 'POST', '/project/plans', {
    as: key,
    body: { name: 'standard', maxFileSize: 2 ** 30, storageLimit: 2 ** 40, isDefault: true },
  });
  const { user } = await call(server, 'POST', '/project/users', { as: key, body: { externalId: suffix } });
  const { token } = await call(server, 'POST', `/project/users/${user.id}/tokens`, { as: key, body: {} });
  return {
    ...owner,
    admin,
    projectId: project.id,
    key,
    userId: user.id,
    externalId: suffix,
    userToken: token,
  };
}

/** Creates the given number of users and resolves to their ids. */
export async function createUsers(server, { key }, count) {
  const ids = [];
  for (let n = 0; n < count; n++) {
    const body = { externalId: randomBytes(6).toString('hex') };
    const { user } = await call(server, 'POST', '/project/users', { as: key, body });
    ids.push(user.id);
  }
  return ids;
}

/** Creates a space for each of the users and resolves to their ids. */
export async function createSpaces(server, { key }, userIds) {
  const ids = [];
  for (const user of userIds) {
    const body = { external_id: randomBytes(6).toString('hex'), name: 'bench' };
    const { space } = await call(server, 'POST', `/project/users/${user}/spaces`, { as: key, body });
    ids.push(space.id);
  }
  return ids;
}
