// What belongs to a project: users, plans, keys, integrations, audit, statistics.
import { delay } from '../delay.ts';
import type { CallOptions, CreateOptions, Http } from '../http.ts';
import { listing } from '../listing.ts';
import type { BodyOf, ProjectSettings, QueryOf } from '../types.ts';
import type { EventFeed, EventOptions } from './events.ts';
import { loadDelivery, toTools } from './load-delivery.ts';

export function usersOf(http: Http) {
  const at = '/project/users';
  return {
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { query, ...options }, ({ users }) => users),
    create: async (body: BodyOf<`POST ${typeof at}`>, options?: CreateOptions) =>
      (await http.create(`POST ${at}`, { body }, options)).user,
  };
}

export function projectOf(http: Http) {
  return {
    plans: plansOf(http),
    keys: keysOf(http),
    integrations: integrationsOf(http),
    audit: {
      list: (query: QueryOf<'GET /project/audit'> = {}, options?: CallOptions) =>
        listing(http, 'GET /project/audit', { query, ...options }, ({ logs }) => logs),
    },
    /** By day and user, for bills. */
    usage: (query: QueryOf<'GET /project/usage'> = {}, options?: CallOptions) =>
      listing(http, 'GET /project/usage', { query, ...options }, ({ days }) => days),
    /** Every change in the project, as it happens. */
    events: (options: EventOptions = {}): EventFeed => eventsOf(http, options),
    /** Loads what manages webhooks: `const webhooks = await client.project.webhooks()`. */
    webhooks: async () => (await import('./webhooks.ts')).webhooksOf(http, listing),
    /** Loads what manages variants of images: `const variants = await client.project.variants()`. */
    variants: async () => (await loadDelivery()).variantsOf(toTools(http)),
    /** How many days deleted files stay in the trash. */
    settings: {
      get: async (options?: CallOptions) => (await http.call('GET /project/settings', options)).settings,
      update: async (body: ProjectSettings, options?: CallOptions) =>
        (await http.call('PUT /project/settings', { body, ...options })).settings,
    },
    stats: {
      overview: (options?: CallOptions) => http.call('GET /project/stats/overview', options),
      files: (options?: CallOptions) => http.call('GET /project/stats/files', options),
      storage: (options?: CallOptions) => http.call('GET /project/stats/storage', options),
      requests: (options?: CallOptions) => http.call('GET /project/stats/requests', options),
    },
  };
}

function eventsOf(http: Http, options: EventOptions): EventFeed {
  const load = () => import('./events.ts');
  return {
    pages: async function* () {
      yield* (await load()).pages(http, options);
    },
    page: async () => (await load()).readPage(http, options),
    stream: async () => (await load()).openStream(http, options),
    async *[Symbol.asyncIterator]() {
      yield* (await load()).events(http, options);
    },
  };
}

function plansOf(http: Http) {
  const at = '/project/plans';
  const one = `${at}/{planId}` as const;
  return {
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { query, ...options }, ({ plans }) => plans),
    create: async (body: BodyOf<`POST ${typeof at}`>, options?: CreateOptions) =>
      (await http.create(`POST ${at}`, { body }, options)).plan,
    get: async (planId: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [planId], ...options })).plan,
    update: async (planId: string, body: BodyOf<`PUT ${typeof one}`>, options?: CallOptions) =>
      (await http.call(`PUT ${one}`, { params: [planId], body, ...options })).plan,
    delete: (planId: string, options?: CallOptions) =>
      http.call(`DELETE ${one}`, { params: [planId], ...options }),
    /** New users get this plan from now on. */
    makeDefault: async (planId: string, options?: CallOptions) =>
      (await http.call(`PUT ${one}/default`, { params: [planId], ...options })).plan,
  };
}

function keysOf(http: Http) {
  const at = '/project/keys';
  return {
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { query, ...options }, ({ keys }) => keys),
    /** `api_key` is shown this once. */
    create: (body: BodyOf<`POST ${typeof at}`> = {}, options?: CreateOptions) =>
      http.create(`POST ${at}`, { body }, options),
    revoke: (keyId: string, options?: CallOptions) =>
      http.call(`DELETE ${at}/{keyId}`, { params: [keyId], ...options }),
  };
}

function integrationsOf(http: Http) {
  const at = '/project/integrations';
  const one = `${at}/{id}` as const;
  return {
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      listing(http, `GET ${at}`, { query, ...options }, ({ integrations }) => integrations),
    /** `api_key` is shown this once. */
    create: (body: BodyOf<`POST ${typeof at}`> = {}, options?: CreateOptions) =>
      http.create(`POST ${at}`, { body }, options),
    get: async (id: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [id], ...options })).integration,
    update: async (id: string, body: BodyOf<`PUT ${typeof one}`>, options?: CallOptions) =>
      (await http.call(`PUT ${one}`, { params: [id], body, ...options })).integration,
    delete: (id: string, options?: CallOptions) => http.call(`DELETE ${one}`, { params: [id], ...options }),
    /** The old key stops working. The new one is shown this once. */
    rotateKey: (id: string, options?: CreateOptions) =>
      http.create(`POST ${one}/rotate-key`, { params: [id] }, options),
  };
}

/** Logging into a space with its own password: what a mobile app does. */
export const spacesOf = (http: Http) => ({
  login: (body: BodyOf<'POST /project/spaces/login'>, options?: CallOptions) =>
    http.call('POST /project/spaces/login', { body, ...options }),
  revokeToken: (jti: string, options?: CallOptions) =>
    http.call('POST /project/spaces/token/revoke', { body: { jti }, ...options }),
});

export interface WaitOptions extends CallOptions {
  /** Between two reads; 500 by default. */
  readonly intervalMs?: number;
}

export function jobsOf(http: Http) {
  const get = (jobId: string, options?: CallOptions) =>
    http.call('GET /project/jobs/{jobId}', { params: [jobId], ...options });
  return {
    get,
    /** Resolves when the job is done or failed: look at its `status`. */
    wait: async (jobId: string, { intervalMs = 500, ...options }: WaitOptions = {}) => {
      for (;;) {
        const job = await get(jobId, options);
        if (job.status === 'done' || job.status === 'failed') return job;
        await delay(intervalMs, options.signal);
      }
    },
  };
}
