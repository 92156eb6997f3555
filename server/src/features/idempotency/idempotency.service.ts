// Answers a request with an Idempotency-Key once. The answer is written in the transaction of the change: after a crash
// there is either both or neither. Repetitions get the same answer for a day.
import type { Actor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { IdempotentCall } from '../../contract/idempotency.ts';
import { sha256 } from '../../kernel/crypto/secret.ts';
import { PakhusError } from '../../kernel/error.ts';
import { JoinedTransaction } from '../../platform/db/joined-transaction.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import type { Unlock } from '../../platform/db/session-locks.ts';
import { commitFile } from '../files/files.commit.ts';
import { completeAlone } from '../uploads/uploads.commit.ts';
import { type Authority, authorityOf, covers } from './idempotency.authority.ts';
import { deleteAnswersOf, findKept, insertKept, type KeptRow, type RequestName } from './idempotency.sql.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Thrown instead of an answer, to say that it is kept already. */
export class Replay {
  readonly answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }
}

const nobody = '00000000-0000-0000-0000-000000000000';

export class IdempotentRequest implements IdempotentCall {
  readonly #deps: Deps;
  readonly #name: RequestName;
  readonly #authority: Authority;
  readonly #unlock: Unlock;
  #kept: KeptRow | null;
  #content: Buffer | null = null;

  /** Refused while another request with the same name is being worked on. */
  static async begin(
    deps: Deps,
    actor: Actor,
    { method, path, key }: { readonly method: string; readonly path: string; readonly key: string },
  ): Promise<IdempotentRequest> {
    const ownerId = 'projectId' in actor ? actor.projectId : nobody;
    const name = { ownerId, id: sha256(`${method} ${path}\n${key}`) };
    const unlock = await deps.db.tryLock(`idempotency ${ownerId} ${name.id.toString('hex')}`);
    if (unlock === null) throw beingWorkedOn();
    try {
      return new IdempotentRequest(deps, name, authorityOf(actor), unlock, await find(deps, name));
    } catch (error) {
      await unlock();
      throw error;
    }
  }

  private constructor(
    deps: Deps,
    name: RequestName,
    authority: Authority,
    unlock: Unlock,
    kept: KeptRow | null,
  ) {
    this.#deps = deps;
    this.#name = name;
    this.#authority = authority;
    this.#unlock = unlock;
    this.#kept = kept;
  }

  get isRepeated(): boolean {
    return this.#kept !== null;
  }

  setContent(digest: Buffer): void {
    this.#content = digest;
    if (this.#kept) this.#replay(this.#kept, digest);
  }

  /** Runs `work`, which must use the given `deps`, and keeps its answer, or its error if `toRefusal` returns an answer for it. */
  async answer(
    work: (deps: Deps) => Promise<Answer>,
    toRefusal: (error: unknown) => Answer | null,
  ): Promise<Answer> {
    const transaction = new JoinedTransaction(this.#deps.db);
    const afterCommit: (() => void)[] = [];
    try {
      const answer = await work(joinedDeps(this.#deps, transaction, afterCommit)).catch(
        async (error: unknown) => {
          const refusal = this.#kept || !this.#content ? null : toRefusal(error);
          if (refusal) {
            await transaction.undo();
            await this.#keep(transaction, refusal);
          }
          throw error;
        },
      );
      await this.#keep(transaction, answer);
      for (const step of afterCommit) step();
      return answer;
    } finally {
      // Does nothing after a commit.
      await transaction.rollBack();
    }
  }

  /** Afterwards a repetition is no longer told to wait. */
  release(): Promise<void> {
    return this.#unlock();
  }

  /** Commits. */
  async #keep(transaction: JoinedTransaction, { status, body }: Answer): Promise<void> {
    const content = this.#content;
    if (!content) throw new Error('The handler of an idempotent route has not told the content');
    const { keyId, bytes } = this.#deps.sealer.seal(body, purposeOf(this.#name));
    const row = { content, authority: this.#authority, status, answer: bytes, key_id: keyId };
    const tx = await transaction.open();
    const [inserted] = await tx.query(insertKept(this.#name, row));
    if (inserted) return transaction.commit();
    // The lock was lost with its connection, and somebody else was faster.
    this.#kept = await find(this.#deps, this.#name);
    if (!this.#kept) throw beingWorkedOn();
    this.#replay(this.#kept, content);
  }

  #replay(kept: KeptRow, content: Buffer): never {
    if (!covers(this.#authority, kept.authority)) throw notYours();
    if (!kept.content.equals(content)) throw otherContent();
    const { status, answer, key_id: keyId } = kept;
    const body = this.#deps.sealer.open({ keyId, bytes: answer }, purposeOf(this.#name));
    if (body === null) throw unreadable();
    throw new Replay({ status, body });
  }
}

async function find({ db }: Deps, name: RequestName): Promise<KeptRow | null> {
  const [kept] = await db.query<KeptRow>(findKept(name));
  return kept ?? null;
}

/** Part of deleting a project. */
export async function forgetAnswers(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(deleteAnswersOf(projectId));
}

const purposeOf = ({ ownerId, id }: RequestName): string => `idempotency ${ownerId} ${id.toString('hex')}`;

/** Everything that the handler changes is part of the transaction, and what it counts is counted after the commit. */
function joinedDeps(deps: Deps, { db }: JoinedTransaction, afterCommit: (() => void)[]): Deps {
  const { counters } = deps;
  return {
    ...deps,
    db,
    commitUpload: (file, audit) => commitFile(db, file, audit),
    completeUpload: (upload) => completeAlone(db, upload),
    counters: {
      add: (keys, amounts) => void afterCommit.push(() => counters.add(keys, amounts)),
      whenSent: (done) => counters.whenSent(done),
      drain: (apply) => counters.drain(apply),
      close: (apply) => counters.close(apply),
    },
  };
}

const beingWorkedOn = () =>
  new PakhusError(
    'CONFLICT',
    'A request with this Idempotency-Key is being worked on: repeat it in a second',
    {
      headers: { 'retry-after': 1 },
    },
  );

const otherContent = () =>
  new PakhusError(
    'IDEMPOTENCY_MISMATCH',
    'This Idempotency-Key was sent with other content: repeat the first request unchanged, or choose a new key',
  );

const notYours = () =>
  new PakhusError(
    'FORBIDDEN',
    'This Idempotency-Key was first sent by a caller that may do more: repeat it with the same credential, or choose a new key',
  );

const unreadable = () =>
  new PakhusError(
    'CONFLICT',
    'The answer kept for this Idempotency-Key was encrypted with a key that is gone: choose a new Idempotency-Key',
  );
