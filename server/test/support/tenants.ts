// Tenants for tests. Each test creates its own, so that all can run on one server.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';
import { adminEmail, adminPassword } from './pakhus.ts';

export interface Tenant {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** The project key. */
  readonly key: string;
}

export interface Integration {
  readonly id: string;
  readonly key: string;
}

export const unique = (prefix: string): string => `${prefix}-${randomBytes(6).toString('hex')}`;

const attemptsMax = 4;
const retryMs = 1_000;

/**
 * For what a test needs before it begins. A machine that stood still for seconds makes the service answer 503, which asks to try
 * again: that is not what these tests are about.
 */
async function prepare(status: number, send: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 1; ; attempt += 1) {
    const reply = await send();
    if (reply.status !== 503 || attempt === attemptsMax) {
      expect(reply.status, reply.text).toBe(status);
      return reply;
    }
    await delay(retryMs);
  }
}

/** From a random address, so that tests do not share a login limit. */
export async function logIn(api: Api, email: string, password: string): Promise<Reply> {
  const address = [...randomBytes(4)].join('.');
  return api.call('POST', '/auth/login', {
    body: { email, password },
    headers: { 'x-forwarded-for': address },
  });
}

export async function sessionOf(api: Api, email: string, password: string): Promise<string> {
  const reply = await prepare(200, () => logIn(api, email, password));
  return reply.body.token;
}

export const adminSession = (api: Api): Promise<string> => sessionOf(api, adminEmail, adminPassword);

export async function createTenant(api: Api, admin: string): Promise<Tenant> {
  const email = `${unique('owner')}@example.com`;
  const password = 'a password of a tenant';
  const project = { name: unique('project'), email, password };
  const reply = await prepare(201, () => api.post('/admin/projects', admin, project));
  return { id: reply.body.project.id, email, password, key: reply.body.api_key };
}

export async function createIntegration(api: Api, key: string, fields: object = {}): Promise<Integration> {
  const reply = await prepare(201, () => api.post('/project/integrations', key, fields));
  return { id: reply.body.integration.id, key: reply.body.api_key };
}

export async function createUser(
  api: Api,
  key: string,
  externalId: string = unique('user'),
): Promise<{ id: string; externalId: string }> {
  const reply = await prepare(201, () => api.post('/project/users', key, { externalId }));
  return { id: reply.body.user.id, externalId };
}

export async function mintToken(
  api: Api,
  key: string,
  userId: string,
  scopes?: readonly string[],
): Promise<{ token: string; jti: string }> {
  const path = `/project/users/${userId}/tokens`;
  const reply = await prepare(201, () => api.post(path, key, scopes ? { scopes } : {}));
  return reply.body;
}

export const planFields = { name: 'standard', maxFileSize: 1_000_000 };

export async function createPlan(api: Api, key: string, fields: object = {}): Promise<{ id: string }> {
  const reply = await api.post('/project/plans', key, { ...planFields, ...fields });
  expect(reply.status, reply.text).toBe(201);
  return reply.body.plan;
}
