// Checks Redis and the mail server.
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { openRedisClient } from './app.redis.ts';
import { type Undo, undoAll } from './app.undo.ts';
import type { Settings } from './contract/settings.ts';
import { type Report, showAddress } from './doctor.findings.ts';
import { withTimeout } from './kernel/async/time-limit.ts';
import { reasonOf } from './kernel/error.ts';
import { createLogger } from './platform/log.ts';
import type { RedisClient } from './platform/redis.ts';

const readyWithinMs = 5_000;
const keyLivesMs = 10_000;
/** Policies that never drop a count before it expires. */
const harmlessPolicies = new Set(['noeviction', 'volatile-ttl']);

export async function examineRedis({ REDIS_URL }: Settings, report: Report): Promise<void> {
  if (REDIS_URL === null) {
    report.skipped('not configured: each process counts limits by itself');
    return;
  }
  const undo: Undo[] = [];
  try {
    const redis = await openRedisClient(REDIS_URL, createLogger('silent'), undo);
    if (redis) await useRedis(redis, REDIS_URL, report);
  } finally {
    await undoAll(undo);
  }
}

async function useRedis(redis: RedisClient, url: string, report: Report): Promise<void> {
  try {
    await untilReady(redis);
    await redis.ping();
  } catch (error) {
    report.failed(
      `does not answer at ${showAddress(url)} (${reasonOf(error)})`,
      'check REDIS_URL, its login, and that the server runs; meanwhile each process counts limits by itself',
    );
    return;
  }
  const info = parseInfo(await redis.info().catch(() => ''));
  report.ok(`Redis ${info.redis_version ?? '(version unknown)'} answers (${showAddress(url)})`);
  await judgeWrites(redis, report);
  judgeEviction(info.maxmemory_policy, report);
}

function untilReady(redis: RedisClient): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  const ready = new Promise<void>((resolve, reject) => {
    redis.once('ready', resolve);
    redis.once('error', reject);
  });
  return withTimeout(readyWithinMs, ready, () => {
    throw new Error(`no connection within ${readyWithinMs / 1000} s`);
  });
}

async function judgeWrites(redis: RedisClient, report: Report): Promise<void> {
  const key = `pakhus:doctor:${randomUUID()}`;
  try {
    await redis.set(key, '1', 'PX', keyLivesMs);
    await redis.del(key);
    report.ok('it takes writes');
  } catch (error) {
    report.failed(
      `takes no writes (${reasonOf(error)})`,
      'name the primary in REDIS_URL, or its sentinels as redis+sentinel://host:port/name',
    );
  }
}

function judgeEviction(policy: string | undefined, report: Report): void {
  if (policy === undefined) report.skipped('its eviction policy cannot be read');
  else if (harmlessPolicies.has(policy)) report.ok(`its eviction policy is ${policy}`);
  else
    report.warning(
      `its eviction policy is ${policy}: it may drop counts that are still needed`,
      'set maxmemory-policy to noeviction or volatile-ttl',
    );
}

const parseInfo = (text: string): Partial<Record<string, string>> =>
  Object.fromEntries(
    text.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );

export async function examineMail(settings: Settings, report: Report, mailTo: string | null): Promise<void> {
  const { SMTP_URL, MAIL_FROM, DATA_DIR } = settings;
  if (SMTP_URL === null) {
    await examineOutbox(join(DATA_DIR, 'outbox'), report);
    if (mailTo !== null)
      report.warning('SMTP_URL is not set, so no mail was sent', 'set SMTP_URL to your mail server');
    return;
  }
  const { checkSmtpServer, createSmtpMailer } = await import('./platform/mail/smtp.ts');
  try {
    await checkSmtpServer(SMTP_URL);
    report.ok(`the mail server takes connections and the login (${showAddress(SMTP_URL)})`);
  } catch (error) {
    report.failed(
      `the mail server cannot be used (${reasonOf(error)})`,
      'check SMTP_URL, its login and port: smtps:// for TLS from the start, usually 465, smtp:// otherwise',
    );
    return;
  }
  if (mailTo === null) return;
  try {
    await createSmtpMailer(SMTP_URL, MAIL_FROM).send(testMail(mailTo));
    report.ok(`a mail to ${mailTo} was accepted: look whether it arrives`);
  } catch (error) {
    report.failed(
      `a mail from ${MAIL_FROM} to ${mailTo} was refused (${reasonOf(error)})`,
      'check MAIL_FROM: most servers accept only senders that they know',
    );
  }
}

const testMail = (to: string) => ({
  id: randomUUID(),
  writtenAt: new Date().toISOString(),
  to,
  subject: 'Pakhus can send mail',
  text: 'This is the test mail of pakhus doctor. There is nothing to do.\n',
  html: '<p>This is the test mail of <code>pakhus doctor</code>. There is nothing to do.</p>',
});

async function examineOutbox(folder: string, report: Report): Promise<void> {
  if (!existsSync(folder)) {
    report.skipped(`no mail server: mails will be written to ${folder}`);
    return;
  }
  try {
    await access(folder, constants.W_OK);
    report.ok(`no mail server: mails are written to ${folder}`);
  } catch (error) {
    report.failed(`mails cannot be written to ${folder} (${reasonOf(error)})`, 'let this user write there');
  }
}
