// Names for the shapes of the API, and the types of a call derived from its endpoint.
import type { components, paths } from './api.ts';

type Schemas = components['schemas'];

export type ApiKey = Schemas['ApiKey'];
export type AuditEntry = Schemas['AuditEntry'];
export type ErrorCode = Schemas['ErrorCode'];
export type EventType = Schemas['EventType'];
export type FileChange = Schemas['FileChange'];
/** A file as its detail read shows it, with a URL for download. */
export type StoredFile = Schemas['FileDetail'];
/** A file in a list; of the trash, with `trashed_at` and `purge_at`. */
export type ListedFile = Schemas['ListedFile'];
export type ImageJob = Schemas['Job'];
export type Integration = Schemas['Integration'];
export type Plan = Schemas['Plan'];
export type Project = Schemas['Project'];
export type ProjectSettings = Schemas['ProjectSettings'];
export type Scope = Schemas['Scope'];
export type Session = Schemas['Session'];
export type Share = Schemas['Share'];
export type Space = Schemas['Space'];
export type SpaceToken = Schemas['SpaceToken'];
export type StorageSnapshot = Schemas['StorageSnapshot'];
export type Upload = Schemas['Upload'];
export type UsageDay = Schemas['UsageDay'];
export type User = Schemas['User'];
export type UserToken = Schemas['UserToken'];
/** A size and format in which images can be read. */
export type Variant = Schemas['Variant'];
/** An image of a file, by a variant. */
export type VariantImage = Schemas['VariantImage'];
export type Visibility = Schemas['Visibility'];
export type Webhook = Schemas['Webhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];

type GroupOf<Type> = Type extends `${infer Group}.${string}` ? Group : never;

/** A type of events, or all of a group: `file.*`. */
export type EventPattern = EventType | `${GroupOf<EventType>}.*` | '*';

/** What an event of this type is about. */
export type EventData<Type extends EventType> = Type extends `file.${string}`
  ? Omit<StoredFile, 'url' | 'url_expires_at'>
  : Type extends `image.${string}`
    ? ImageJob
    : Type extends `upload.${string}`
      ? Upload
      : Type extends `user.${string}`
        ? User
        : Type extends `space.${string}`
          ? Space
          : Type extends `share.${string}`
            ? Share
            : Type extends 'quota.threshold'
              ? User & { threshold: 80 | 100 }
              : Schemas['Event']['data'];

/** An event. Its `type` tells what `data` is. */
export type FeedEvent = {
  [Type in EventType]: Omit<Schemas['Event'], 'type' | 'data'> & { type: Type; data: EventData<Type> };
}[EventType];

export interface EventsPage {
  readonly events: FeedEvent[];
  /** Continues after this page, also after an empty one. */
  readonly next_cursor: string;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** All operations of the API by `METHOD /path`. */
export type Operations = {
  [Path in keyof paths as {
    [M in Method]: paths[Path][M] extends { responses: unknown } ? `${Uppercase<M>} ${Path}` : never;
  }[Method]]: paths[Path];
};

export type Endpoint = keyof Operations;

type OperationOf<E extends Endpoint> = E extends `${infer M} ${infer Path extends keyof paths}`
  ? paths[Path][Lowercase<M> & keyof paths[Path]]
  : never;

/** The query parameters of an operation. */
export type QueryOf<E extends Endpoint> =
  OperationOf<E> extends { parameters: { query?: infer Query } } ? Exclude<Query, undefined> : never;

/** The JSON body of an operation. */
export type BodyOf<E extends Endpoint> =
  OperationOf<E> extends { requestBody?: infer Request }
    ? Exclude<Request, undefined> extends { content: { 'application/json': infer Body } }
      ? Body
      : never
    : never;

/** The fields of a form, without the file. */
export type FormOf<E extends Endpoint> =
  OperationOf<E> extends { requestBody?: infer Request }
    ? Exclude<Request, undefined> extends { content: { 'multipart/form-data': infer Form } }
      ? Omit<Form, 'file' | 'image' | 'meta'>
      : never
    : never;

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The JSON of a successful answer; undefined for an empty one. */
export type AnswerOf<E extends Endpoint> =
  OperationOf<E> extends { responses: infer Responses } ? JsonOf<Responses[keyof Responses]> : never;
