// What the operator does: projects, settings, audit and statistics of the installation.
import type { CallOptions, CreateOptions, Http } from '../http.ts';
import { listing } from '../listing.ts';
import type { BodyOf, QueryOf } from '../types.ts';

export function adminOf(http: Http) {
  return {
    projects: projectsOf(http),
    settings: {
      getAuditRetention: (options?: CallOptions) => http.call('GET /admin/settings/audit-retention', options),
      setAuditRetention: (body: BodyOf<'PUT /admin/settings/audit-retention'>, options?: CallOptions) =>
        http.call('PUT /admin/settings/audit-retention', { body, ...options }),
      getRateLimit: (options?: CallOptions) => http.call('GET /admin/settings/rate-limit', options),
      setRateLimit: (body: BodyOf<'PUT /admin/settings/rate-limit'>, options?: CallOptions) =>
        http.call('PUT /admin/settings/rate-limit', { body, ...options }),
    },
    audit: {
      list: (query: QueryOf<'GET /admin/audit'> = {}, options?: CallOptions) =>
        listing(http, 'GET /admin/audit', { query, ...options }, ({ logs }) => logs),
    },
    stats: {
      global: (options?: CallOptions) => http.call('GET /admin/stats/global', options),
      projects: (query: QueryOf<'GET /admin/stats/projects'> = {}, options?: CallOptions) =>
        listing(http, 'GET /admin/stats/projects', { query, ...options }, ({ projects }) => projects),
    },
  };
}

function projectsOf(http: Http) {
  const at = '/admin/projects';
  const one = `${at}/{projectId}` as const;
  return {
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { query, ...options }, ({ projects }) => projects),
    /** `api_key` is shown this once. */
    create: (body: BodyOf<`POST ${typeof at}`>, options?: CreateOptions) =>
      http.create(`POST ${at}`, { body }, options),
    get: async (projectId: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [projectId], ...options })).project,
    update: async (projectId: string, body: BodyOf<`PATCH ${typeof one}`>, options?: CallOptions) =>
      (await http.call(`PATCH ${one}`, { params: [projectId], body, ...options })).project,
    /** Suspends a project, or lets it work again. */
    setActive: async (projectId: string, active: boolean, options?: CallOptions) =>
      (await http.call(`PATCH ${one}/status`, { params: [projectId], body: { active }, ...options })).project,
    /** The old keys stop working. The new one is shown this once. */
    rotateKey: (projectId: string, options?: CreateOptions) =>
      http.create(`POST ${one}/rotate-key`, { params: [projectId] }, options),
    /** Deletes the project with everything in it. */
    delete: (projectId: string, options?: CallOptions) =>
      http.call(`DELETE ${one}`, { params: [projectId], ...options }),
  };
}
