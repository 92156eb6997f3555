// Many requests at once, and one question for all of those that one credential brings.
import type { Deps } from '../../contract/deps.ts';
import type { Subject } from '../../contract/subject.ts';
import { deferred } from '../../kernel/async/deferred.ts';
import { atEndOfTurn } from '../../kernel/async/turn.ts';
import { type Caller, type Found, identify } from './credentials.service.ts';
import type { SubjectNames } from './credentials.sql.ts';

/** How the path names the end-user; null where it names none. */
export type SubjectPath = { readonly by: SubjectNames['by']; readonly name: string } | null;

/** `credential` is a Bearer token or the cookie's value. */
export type Identify = (credential: string, subject: SubjectPath) => Promise<Caller>;

/**
 * Requests that arrive together with one credential, as those of a busy backend do, are identified by one
 * statement. It is sent when the last of them has arrived, so that none gets a staler answer than from its own.
 */
export function createIdentify(deps: Deps): Identify {
  const byId = gatherer(deps, 'userId');
  const byExternalId = gatherer(deps, 'externalId');
  const byNone = gatherer(deps, null);
  return (credential, subject) => {
    if (subject === null) return byNone(credential, '');
    return (subject.by === 'userId' ? byId : byExternalId)(credential, subject.name);
  };
}

/** For requests that name their end-users in one way. */
function gatherer(deps: Deps, by: SubjectNames['by'] | null) {
  let gathered = new Map<string, Gathered>();
  /** Of the last request: the next one's is often the same, which is told for less than it is found. */
  let latest: Gathered | null = null;
  const ask = () => {
    const now = gathered;
    gathered = new Map();
    latest = null;
    for (const one of now.values()) one.ask(deps);
  };
  const find = (credential: string): Gathered => {
    let together = gathered.get(credential);
    if (!together) {
      if (gathered.size === 0) atEndOfTurn(ask);
      together = new Gathered(credential, by);
      gathered.set(credential, together);
    }
    return together;
  };
  return (credential: string, name: string): Promise<Caller> => {
    if (latest?.credential !== credential) latest = find(credential);
    return latest.callerFor(name);
  };
}

/** Requests with one credential that name their end-users in one way. */
class Gathered {
  readonly credential: string;
  readonly #by: SubjectNames['by'] | null;
  readonly #found = deferred<Found>();
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

  readonly #resolve = (found: Found): void => {
    for (const subject of found.subjects)
      this.#subjects.set(this.#by === 'userId' ? subject.id : subject.externalId, subject);
    this.#found.resolve(found);
  };

  #callerOf({ caller: { actor, rate, cors } }: Found, name: string): Caller {
    const known = this.#by === 'userId' ? name.toLowerCase() : name;
    return { actor, rate, cors, subject: this.#subjects.get(known) ?? null };
  }
}
