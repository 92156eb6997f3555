// Identifies requests that arrive together with one credential by one statement.
import type { Deps } from '../../contract/deps.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { type Caller, type Identification, identify } from './credentials.service.ts';
import type { SubjectNames } from './credentials.sql.ts';

/** How the path names the end-user; null if it names none. */
export type SubjectPath = { readonly by: SubjectNames['by']; readonly name: string } | null;

/** `credential` is a Bearer token or the cookie's value. */
export type Identify = (credential: string, subject: SubjectPath) => Promise<Caller>;

/**
 * A busy backend sends many requests with one credential. The statement is sent after the last of them has arrived,
 * so no request gets a staler answer than a statement of its own would give.
 */
export function createIdentify(deps: Deps): Identify {
  const byId = identifyTogether(deps, 'userId');
  const byExternalId = identifyTogether(deps, 'externalId');
  const byNone = identifyTogether(deps, null);
  return (credential, subject) => {
    if (subject === null) return byNone('', credential);
    return (subject.by === 'userId' ? byId : byExternalId)(subject.name, credential);
  };
}

const identifyTogether = (deps: Deps, by: SubjectNames['by'] | null) =>
  microBatch<string, Caller, string>(
    async (names, credential) => {
      const found = await identify(deps, credential, by && { by, names: [...new Set(names)] });
      return toCallers(found, by, names);
    },
    { gather: 'iteration' },
  );

function toCallers(
  { caller: { actor, rate, cors }, subjects }: Identification,
  by: SubjectNames['by'] | null,
  names: readonly string[],
): Caller[] {
  const known = new Map(
    subjects.map((subject) => [by === 'userId' ? subject.id : subject.externalId, subject]),
  );
  return names.map((name) => {
    const subject = known.get(by === 'userId' ? name.toLowerCase() : name) ?? null;
    return { actor, rate, cors, subject };
  });
}
