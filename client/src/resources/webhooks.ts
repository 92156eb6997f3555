// Webhooks of a project. Loaded when they are needed; what this imported, bundlers would split off the rest.
import type { CallOptions, CreateOptions, Http } from '../http.ts';
import type { listing } from '../listing.ts';
import type { BodyOf, QueryOf } from '../types.ts';

export type Webhooks = ReturnType<typeof webhooksOf>;

export function webhooksOf(http: Http, list: typeof listing) {
  const at = '/project/webhooks';
  const one = `${at}/{webhookId}` as const;
  return {
    list: (query: QueryOf<`GET ${typeof at}`> = {}, options?: CallOptions) =>
      list(http, `GET ${at}`, { query, ...options }, ({ webhooks }) => webhooks),
    /** `secret` is shown this once. */
    create: (body: BodyOf<`POST ${typeof at}`>, options?: CreateOptions) =>
      http.create(`POST ${at}`, { body }, options),
    get: async (webhookId: string, options?: CallOptions) =>
      (await http.call(`GET ${one}`, { params: [webhookId], ...options })).webhook,
    /** `active: true` continues with the event at which it stopped. */
    update: async (webhookId: string, body: BodyOf<`PUT ${typeof one}`>, options?: CallOptions) =>
      (await http.call(`PUT ${one}`, { params: [webhookId], body, ...options })).webhook,
    delete: (webhookId: string, options?: CallOptions) =>
      http.call(`DELETE ${one}`, { params: [webhookId], ...options }),
    /** The new secret is shown this once. The old one signs as well for 24 hours. */
    rotateSecret: (webhookId: string, options?: CreateOptions) =>
      http.create(`POST ${one}/rotate-secret`, { params: [webhookId] }, options),
    /** Sends a signed message that is no event. */
    test: async (webhookId: string, options?: CreateOptions) =>
      (await http.create(`POST ${one}/test`, { params: [webhookId] }, options)).delivery,
    /** What became of each event, newest first. */
    deliveries: (
      webhookId: string,
      query: QueryOf<`GET ${typeof one}/deliveries`> = {},
      options?: CallOptions,
    ) =>
      list(
        http,
        `GET ${one}/deliveries`,
        { params: [webhookId], query, ...options },
        ({ deliveries }) => deliveries,
      ),
    /** Sends the event of a delivery again. */
    replay: async (webhookId: string, deliveryId: string, options?: CreateOptions) =>
      (
        await http.create(
          `POST ${one}/deliveries/{deliveryId}/replay`,
          { params: [webhookId, deliveryId] },
          options,
        )
      ).delivery,
  };
}
