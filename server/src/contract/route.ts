// What a route is: a shape and a handler, declared once. Validation, guards, audit, OpenAPI, both paths of `:user` and
// the access tests are derived from the shape.
import type { Readable } from 'node:stream';
import type { ErrorCode } from '../kernel/error.ts';
import type { Static, TObject, TSchema } from '../kernel/schema.ts';
import type { Actor, ActorKind, AdminActor, ProjectActor, Session } from './actor.ts';
import type { AuditAction, AuditStamp } from './audit.ts';
import type { Call } from './call.ts';
import type { Deps } from './deps.ts';
import type { Scope } from './scope.ts';
import type { Serialized } from './serialized.ts';
import type { Settings } from './settings.ts';
import type { Subject } from './subject.ts';

export type Access = PublicAccess | GuardedAccess;

export interface PublicAccess {
  readonly public: true;
  /** Why it needs no credential. */
  readonly why: string;
}

export interface GuardedAccess {
  readonly actors: readonly ActorKind[];
  readonly scope?: Scope;
  /** The body decides which of these is needed: the handler calls `requireScope`. */
  readonly scopeByBody?: readonly Scope[];
  /** Actors that do not need the scope. */
  readonly scopeless?: readonly ActorKind[];
  /** Requires a login session; API keys are refused. */
  readonly session?: true;
}

export interface RouteShape {
  readonly id: `${string}.${string}`;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:user` makes two paths: `/:userId` and `/ext/:externalId`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** The action recorded on success, or null for none. */
  readonly audit: AuditAction | null;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** The handler reads multipart/form-data from the stream; `body` only documents it. */
  readonly multipart?: true;
  /** The handler reads the body from the stream. These media types are documented, not checked. */
  readonly stream?: readonly string[];
  /** Only requests in this upload protocol; the route without one takes the others. Not in the OpenAPI document. */
  readonly dialect?: 'tus' | 'draft';
  /** Added to the answer to OPTIONS on the route's paths. */
  readonly optionsHeaders?: (settings: Settings) => Readonly<Record<string, string>>;
  /**
   * `integration`: the policy of the integration behind the credential, if there is one. `login`: the limit on logins from
   * one client address. Null: not limited.
   */
  readonly rateLimit: 'integration' | 'login' | null;
  /**
   * `always`: changes are refused if they come from another site. Without it, only changes authenticated by the session
   * cookie are.
   */
  readonly csrf?: 'always';
  /** Accepts an Idempotency-Key. Everything that the handler changes must go through the `deps` of its context. */
  readonly idempotent?: true;
  /** The largest JSON body; 1 MiB by default. */
  readonly bodyBytesMax?: number;
  /** Clears the session cookie, even if the session has ended already. */
  readonly endsSession?: true;
  /** Inputs that the handler reads itself: documented, not validated. */
  readonly reads?: { readonly query?: TObject; readonly headers?: TObject; readonly cookies?: TObject };
  readonly returns: AnswerShape & { readonly status: 200 | 201 | 202 | 204 };
  /** Other successful answers, whose status the handler sets. */
  readonly also?: Readonly<Record<number, AnswerShape & { readonly description: string }>>;
  /** Errors beyond those of guards and validation. */
  readonly errors: readonly (ErrorCode | ErrorAnswer)[];
}

/** With a `contentType`, the handler answers with bytes. */
export interface AnswerShape {
  readonly body?: TSchema;
  readonly contentType?: string;
  /** The same in another type, for those who ask for it: the handler answers with bytes and sets the type. */
  readonly or?: { readonly contentType: string; readonly example: string };
  /** In addition to the headers that guards set. */
  readonly headers?: TObject;
}

/** An error with a status other than its code's usual one. */
export interface ErrorAnswer {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers?: TObject;
}

type StaticOr<Schema, Otherwise> = Schema extends TSchema ? Static<Schema> : Otherwise;

type WithSession<Who extends Actor> = Who extends AdminActor | ProjectActor
  ? Who & { readonly session: Session }
  : Who;

type ActorOf<A extends Access> = A extends { actors: readonly (infer Kind)[] }
  ? A extends { session: true }
    ? WithSession<Extract<Actor, { kind: Kind }>>
    : Extract<Actor, { kind: Kind }>
  : null;

export interface Context<Shape extends RouteShape> {
  readonly deps: Deps;
  readonly actor: ActorOf<Shape['access']>;
  /** The end-user that the path names, found within the caller's project. */
  readonly user: Shape['path'] extends `${string}/:user${infer Rest}`
    ? Rest extends '' | `/${string}`
      ? Subject
      : null
    : null;
  readonly params: StaticOr<Shape['params'], Record<string, never>>;
  readonly query: StaticOr<Shape['query'], Record<string, never>>;
  readonly body: StaticOr<Shape['body'], null>;
  readonly audit: AuditStamp;
  readonly call: Call;
}

export type Answer<Shape extends RouteShape> = Shape['returns'] extends { contentType: string }
  ? Readable | Buffer
  : StaticOr<Shape['returns']['body'], void> | (Shape['returns'] extends { or: object } ? Readable : never);

/** Serialized JSON is not checked against the schema here; tests do that. */
export type Handler<Shape extends RouteShape> = (
  context: Context<Shape>,
) => Promise<Answer<Shape> | Serialized>;

/** A declared route without its type parameters, for the table, the server and the tests. */
export interface Route extends RouteShape {
  readonly handle: (context: never) => Promise<unknown>;
}

/** Two arguments, because TypeScript cannot infer the handler's types inside one literal. */
export function route<const Shape extends RouteShape>(shape: Shape, handle: Handler<Shape>): Route {
  return { ...shape, handle };
}

/** PUT and PATCH need one even if every field is optional: an empty update is most likely a forgotten body. */
export const needsBody = ({ method, body }: RouteShape): boolean =>
  body !== undefined && (method === 'PUT' || method === 'PATCH' || (body.required ?? []).length > 0);

export const isPublic = (access: Access): access is PublicAccess => 'public' in access;
