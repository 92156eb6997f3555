// Mails are sent through the queue, so that no request waits for a mail server or fails with it.
import type { Deps } from '../../contract/deps.ts';
import { isoOf } from '../../kernel/clock.ts';
import { newId } from '../../kernel/id.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import type { Mail } from '../../platform/mail/mailer.ts';

export const mailQueue = 'mail.send';

/** Encrypted, because mails contain reset links and the queue is part of backups. */
export interface MailJob {
  readonly id: string;
  readonly keyId: string;
  readonly sealed: string;
  /** After this time the mail is useless and is not sent. */
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
  const { keyId, bytes } = deps.sealer.seal(JSON.stringify(mail), sealPurpose(id));
  const job: MailJob = { id, keyId, sealed: bytes.toString('base64'), expiresAtMs };
  await deps.queue.send(tx, mailQueue, id, job);
}

export async function sendMail(deps: Deps, job: MailJob, signal: AbortSignal): Promise<void> {
  if (deps.clock() >= job.expiresAtMs) {
    deps.log.warn({ mail: job.id }, 'mail dropped: its content has expired');
    return;
  }
  const sealed = { keyId: job.keyId, bytes: Buffer.from(job.sealed, 'base64') };
  const plain = deps.sealer.open(sealed, sealPurpose(job.id));
  if (plain === null) {
    deps.log.error({ mail: job.id }, 'mail dropped: no known ENCRYPTION_KEY decrypts it');
    return;
  }
  try {
    await unlessAborted(signal, deps.mailer.send(JSON.parse(plain) as Mail));
  } catch (error) {
    deps.log.warn({ mail: job.id, reason: (error as Error).message }, 'mail not sent, retrying');
    throw error;
  }
}

const sealPurpose = (id: string): string => `mail:${id}`;

/** A mail server that hangs must not delay the stop; the mail is retried after the next start. */
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
