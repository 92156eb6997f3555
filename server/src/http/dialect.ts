// Chooses between routes on one path by the upload protocol that a request speaks.
import type { IncomingMessage } from 'node:http';
import type { FastifyServerOptions } from 'fastify';
import type { Route } from '../contract/route.ts';
import { isDraft } from '../features/uploads/uploads.draft.ts';
import { isTus } from '../features/uploads/uploads.tus.ts';

type Dialect = NonNullable<Route['dialect']>;
type Strategy = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>[string];
type Storage = ReturnType<Strategy['storage']>;
type Handler = Parameters<Storage['set']>[1];

/** A constraint of the router. Where no route has the dialect, the one without takes the request. */
export const byDialect: Strategy = {
  name: 'dialect',
  mustMatchWhenDerived: false,
  storage() {
    const handlers = new Map<string, Handler>();
    return {
      get: (dialect: string) => handlers.get(dialect) ?? null,
      set: (dialect: string, handler: Handler) => void handlers.set(dialect, handler),
    };
  },
  // The types of the router leave out that a request may have none.
  deriveConstraint: findDialect as Strategy['deriveConstraint'],
};

function findDialect({ headers }: IncomingMessage): Dialect | undefined {
  if (isTus(headers)) return 'tus';
  return isDraft(headers) ? 'draft' : undefined;
}
