// Mail leaves through the queue: a request neither waits for a mail server nor fails with it.
import type { Deps } from '../../contract/deps.ts';
import { isoOf } from '../../kernel/clock.ts';
import { newId } from '../../kernel/id.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import type { Mail } from '../../platform/mail/mailer.ts';

export const mailQueue = 'mail.send';

/** Sealed, because mails hold links that let their reader in, and the queue is kept in backups. */
export interface MailJob {
  readonly id: string;
  readonly keyId: string;
  readonly sealed: string;
  /** A mail that is of no use any more is not sent. */
  readonly expiresAtMs: number;
}

/** The mail is sent if, and only if, the transaction commits. */
export async function postMail(
  deps: Deps,
  tx: Transaction,
  content: Omit<Mail, 'id' | 'writtenAt'>,
  expiresAtMs: number,
): Promise<void> {
  const id = newId();
  const mail: Mail = { id, writtenAt: isoOf(deps.clock()), ...content };
  const { keyId, bytes } = deps.sealer.seal(JSON.stringify(mail), purposeOf(id));
  const job: MailJob = { id, keyId, sealed: bytes.toString('base64'), expiresAtMs };
  await deps.queue.send(tx, mailQueue, id, job);
}

export async function sendMail(deps: Deps, job: MailJob, signal: AbortSignal): Promise<void> {
  if (deps.clock() >= job.expiresAtMs) {
    deps.log.warn({ mail: job.id }, 'a mail was given up: what it says has expired');
    return;
  }
  const sealed = { keyId: job.keyId, bytes: Buffer.from(job.sealed, 'base64') };
  const plain = deps.sealer.open(sealed, purposeOf(job.id));
  if (plain === null) {
    deps.log.error({ mail: job.id }, 'a mail was given up: no known ENCRYPTION_KEY opens it');
    return;
  }
  try {
    await unlessAborted(signal, deps.mailer.send(JSON.parse(plain) as Mail));
  } catch (error) {
    deps.log.warn(
      { mail: job.id, reason: (error as Error).message },
      'a mail was not sent; it will be tried again',
    );
    throw error;
  }
}

const purposeOf = (id: string): string => `mail:${id}`;

/** A server that hangs must not hold up the stop of the service; the mail is tried again after the next start. */
async function unlessAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  let giveUp: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', giveUp);
  if (signal.aborted) giveUp();
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
