// Micro-batching of authentication: concurrent requests with one credential share a statement.
import type { Deps } from '../../contract/deps.ts';
import type { Subject } from '../../contract/subject.ts';
import { deferred } from '../../kernel/async/deferred.ts';
import { atEndOfTurn } from '../../kernel/async/turn.ts';
import { type Caller, type Identification, identify } from './credentials.service.ts';
import type { SubjectNames } from './credentials.sql.ts';

/** How the path names the end-user; null if it names none. */
export type SubjectPath = { readonly by: SubjectNames['by']; readonly name: string } | null;

/** `credential` is a Bearer token or the cookie's value. */
export type Identify = (credential: string, subject: SubjectPath) => Promise<Caller>;

/**
 * Requests that arrive in one turn of the event loop with the same credential share one statement. It is sent after the
 * last of them has arrived, so that no answer is staler than from a statement of its own.
 */
export function createIdentify(deps: Deps): Identify {
  const byId = createBatcher(deps, 'userId');
  const byExternalId = createBatcher(deps, 'externalId');
  const byNone = createBatcher(deps, null);
  return (credential, subject) => {
    if (subject === null) return byNone(credential, '');
    return (subject.by === 'userId' ? byId : byExternalId)(credential, subject.name);
  };
}

/** One batch per credential, for requests that name their end-users in the same way. */
function createBatcher(deps: Deps, by: SubjectNames['by'] | null) {
  let batches = new Map<string, CredentialBatch>();
  /** Fast path: consecutive requests often share a credential. */
  let latest: CredentialBatch | null = null;
  const ask = () => {
    const now = batches;
    batches = new Map();
    latest = null;
    for (const one of now.values()) one.ask(deps);
  };
  const find = (credential: string): CredentialBatch => {
    let batch = batches.get(credential);
    if (!batch) {
      if (batches.size === 0) atEndOfTurn(ask);
      batch = new CredentialBatch(credential, by);
      batches.set(credential, batch);
    }
    return batch;
  };
  return (credential: string, name: string): Promise<Caller> => {
    if (latest?.credential !== credential) latest = find(credential);
    return latest.callerFor(name);
  };
}

/** The requests of one batch. */
class CredentialBatch {
  readonly credential: string;
  readonly #by: SubjectNames['by'] | null;
  readonly #found = deferred<Identification>();
  readonly #callers = new Map<string, Promise<Caller>>();
  readonly #subjects = new Map<string, Subject>();

  constructor(credential: string, by: SubjectNames['by'] | null) {
    this.credential = credential;
    this.#by = by;
  }

  callerFor(name: string): Promise<Caller> {
    let caller = this.#callers.get(name);
    if (!caller) {
      caller = this.#found.promise.then((found) => this.#callerOf(found, name));
      this.#callers.set(name, caller);
    }
    return caller;
  }

  ask(deps: Deps): void {
    const names = this.#by && { by: this.#by, names: [...this.#callers.keys()] };
    identify(deps, this.credential, names).then(this.#resolve, this.#found.reject);
  }

  readonly #resolve = (found: Identification): void => {
    for (const subject of found.subjects)
      this.#subjects.set(this.#by === 'userId' ? subject.id : subject.externalId, subject);
    this.#found.resolve(found);
  };

  #callerOf({ caller: { actor, rate, cors } }: Identification, name: string): Caller {
    const known = this.#by === 'userId' ? name.toLowerCase() : name;
    return { actor, rate, cors, subject: this.#subjects.get(known) ?? null };
  }
}
