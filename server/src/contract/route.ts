// What a route is: declared once, as a shape and a handler. Validation, guards, audit, OpenAPI, the twins
// of `:user` and the access tests all follow from the shape.
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../kernel/error.ts';
import type { Actor, ActorKind, AdminActor, ProjectActor, Session } from './actor.ts';
import type { AuditAction, AuditStamp } from './audit.ts';
import type { Call } from './call.ts';
import type { Deps } from './deps.ts';
import type { Scope } from './scope.ts';
import type { Serialized } from './serialized.ts';
import type { Subject } from './subject.ts';

export type Access = PublicAccess | GuardedAccess;

export interface PublicAccess {
  readonly public: true;
  /** Why a stranger may call it. */
  readonly why: string;
}

export interface GuardedAccess {
  readonly actors: readonly ActorKind[];
  readonly scope?: Scope;
  /** Who needs no scope. */
  readonly scopeless?: readonly ActorKind[];
  /** An API key will not do: the account itself must be logged in. */
  readonly session?: true;
}

export interface RouteShape {
  readonly id: `${string}.${string}`;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:user` it is two paths: one by `/:userId`, one by `/ext/:externalId`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** The action that a success records; null is a statement, not an omission. */
  readonly audit: AuditAction | null;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** The body is multipart/form-data that the handler reads as a stream; `body` then only documents it. */
  readonly multipart?: true;
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
  /** The largest JSON body; 1 MiB by default. */
  readonly bodyBytesMax?: number;
  /** Clears the session cookie, even if the session has ended already. */
  readonly endsSession?: true;
  /** What the handler reads out of the request by itself: documented, and not validated before it. */
  readonly reads?: { readonly query?: TObject; readonly headers?: TObject; readonly cookies?: TObject };
  readonly returns: AnswerShape & { readonly status: 200 | 201 | 202 | 204 };
  /** Answers that are no error and still have a status of their own, which the handler sets. */
  readonly also?: Readonly<Record<number, AnswerShape & { readonly description: string }>>;
  /** What it can answer beyond what its guards and its validation can. */
  readonly errors: readonly (ErrorCode | ErrorAnswer)[];
}

/** With a content type of its own, the handler answers with bytes. */
export interface AnswerShape {
  readonly body?: TSchema;
  readonly contentType?: string;
  /** Beside the headers that follow from the guards. */
  readonly headers?: TObject;
}

/** An error under another status than the usual one of its code. */
export interface ErrorAnswer {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers?: TObject;
}

type StaticOr<Schema, Otherwise> = Schema extends TSchema ? Static<Schema> : Otherwise;

type SessionOf<Who extends Actor> = Who extends AdminActor | ProjectActor
  ? Who & { readonly session: Session }
  : Who;

type ActorOf<A extends Access> = A extends { actors: readonly (infer Kind)[] }
  ? A extends { session: true }
    ? SessionOf<Extract<Actor, { kind: Kind }>>
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
  : StaticOr<Shape['returns']['body'], void>;

/** Whoever answers with JSON that the database wrote vouches for its shape; tests hold it against the schema. */
export type Handler<Shape extends RouteShape> = (
  context: Context<Shape>,
) => Promise<Answer<Shape> | Serialized>;

/** A declared route, its types forgotten: what the table, the server and the tests work with. */
export interface Route extends RouteShape {
  readonly handle: (context: never) => Promise<unknown>;
}

/** Shape and handler are two arguments: inside one literal TypeScript loses the handler's types. */
export function route<const Shape extends RouteShape>(shape: Shape, handle: Handler<Shape>): Route {
  return { ...shape, handle };
}

/** Updates need one even where every field is optional: an empty update is a client that forgot its body. */
export const needsBody = ({ method, body }: RouteShape): boolean =>
  body !== undefined && (method === 'PUT' || method === 'PATCH' || (body.required ?? []).length > 0);

export const isPublic = (access: Access): access is PublicAccess => 'public' in access;
