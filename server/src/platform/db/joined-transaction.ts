// A transaction that several pieces of work share, and that its owner commits after the last of them. It opens when it is
// first needed: nothing that takes long, such as receiving a file, should hold a connection.
import { deferred } from '../../kernel/async/deferred.ts';
import { outage } from '../../kernel/error.ts';
import { isDeadlock } from './outage.ts';
import type { Database, Transaction } from './postgres.ts';
import { Sql } from './sql.ts';

const begun = new Sql('savepoint begun', [], '');
const undoAll = new Sql('rollback to savepoint begun', [], '');

class RolledBack extends Error {}

/** Other transactions are run again after a deadlock; here the work would have to be. */
function explainDeadlock(error: unknown): never {
  if (!isDeadlock(error)) throw error;
  throw outage('database', 'The change met another one on the same data: send it again', error, 1);
}

export class JoinedTransaction {
  /** The database whose statements and transactions all run in this one. Reads do too once it is open. */
  readonly db: Database;
  readonly #outer: Database;
  readonly #end = deferred<void>();
  #opened: Promise<Transaction> | null = null;
  #finished: Promise<void> = Promise.resolve();

  constructor(outer: Database) {
    this.#outer = outer;
    const query = async <Row>(statement: Sql) => (await this.open()).query<Row>(statement);
    this.db = {
      ...outer,
      query,
      read: (statement) => (this.#opened ? query(statement) : outer.read(statement)),
      readFirst: (statement) => (this.#opened ? query(statement) : outer.readFirst(statement)),
      transaction: async (work) => work(await this.open()),
    };
  }

  open(): Promise<Transaction> {
    this.#opened ??= new Promise((resolve, reject) => {
      this.#finished = this.#outer.transaction(async (tx) => {
        await tx.query(begun);
        resolve({ ...tx, query: (statement) => tx.query<never>(statement).catch(explainDeadlock) });
        await this.#end.promise;
      });
      this.#finished.catch(reject);
    });
    return this.#opened;
  }

  /** Undoes all work so far, and stays open. */
  async undo(): Promise<void> {
    if (this.#opened) await (await this.#opened).query(undoAll);
  }

  async commit(): Promise<void> {
    this.#end.resolve();
    await this.#finished;
  }

  async rollBack(): Promise<void> {
    if (!this.#opened) return;
    this.#end.promise.catch(() => undefined);
    this.#end.reject(new RolledBack());
    await this.#finished.catch(() => undefined);
  }
}
