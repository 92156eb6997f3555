import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { apiPrefix } from '../../src/http/route-table.ts';
import { post } from '../support/accounts.ts';
import { type Api, apiOf } from '../support/api.ts';
import { rowsOf } from '../support/database.ts';
import {
  linkOf,
  type MailServer,
  mailsTo,
  outboxTo,
  startMailServer,
  startPage,
  tokenOf,
} from '../support/mail.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/processes.ts';
import { adminSession, createTenant, logIn } from '../support/tenants.ts';

const newPassword = 'another password entirely';

const tenantOf = async (service: TestPakhus) => createTenant(service.api, await adminSession(service.api));

const forgot = ({ api }: { readonly api: Api }, email: string, headers: Record<string, string> = {}) =>
  api.call('POST', '/auth/forgot-password', { body: { email }, headers });

const resetUrl = 'https://files.example.com/reset';

describe('with a mail server', () => {
  let mailServer: MailServer;
  let page: Awaited<ReturnType<typeof startPage>>;
  let service: TestPakhus;

  beforeAll(async () => {
    mailServer = await startMailServer();
    page = await startPage();
    service = await startTestPakhus({
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'The warehouse <keeper@pakhus.example>',
      RESET_URL: page.url,
    });
  });
  afterAll(async () => {
    await service.stop();
    await page.stop();
    await mailServer.stop();
  });

  test('a forgotten password can be reset with the mailed link', async () => {
    const tenant = await tenantOf(service);
    expect((await forgot(service, tenant.email)).body).toEqual({ ok: true });
    const [mail] = await mailsTo(mailServer, tenant.email);
    if (!mail) throw new Error('no mail');
    const visited = await fetch(linkOf(mail));
    expect(visited.status).toBe(200);
    const token = page.opened.at(-1)?.searchParams.get('token');
    expect(page.opened.at(-1)?.searchParams.get('from'), 'what RESET_URL says is kept').toBe('mail');
    const done = await post(service.api, '/auth/reset-password', { token, newPassword });
    expect(done.status, done.text).toBe(200);
    expect((await logIn(service.api, tenant.email, newPassword)).status).toBe(200);
  });

  test('the mail has a text and an HTML part with the same link, one recipient and a sender', async () => {
    const tenant = await tenantOf(service);
    await forgot(service, tenant.email);
    const [mail] = await mailsTo(mailServer, tenant.email);
    if (!mail) throw new Error('no mail');
    expect(mail.from).toEqual({ name: 'The warehouse', address: 'keeper@pakhus.example' });
    expect(mail.to).toEqual([{ name: '', address: tenant.email }]);
    expect(mail.subject).toContain('password');
    expect(mail.messageId).toMatch(/^<[0-9a-f-]{36}@pakhus>$/);
    const headerOf = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
    expect(headerOf('auto-submitted')).toBe('auto-generated');
    expect(headerOf('date'), 'as RFC 5322 writes it').toMatch(/^\w{3}, \d{2} \w{3} \d{4} [\d:]{8} \+0000$/);
    const hrefs = [...(mail.html ?? '').matchAll(/href="([^"]+)"/g)].map(([, href]) =>
      href?.replaceAll('&amp;', '&'),
    );
    expect(hrefs).toEqual([linkOf(mail)]);
    expect(mail.text).toContain('15 minutes');
    expect(tokenOf(mail)).toMatch(/^[\w-]{43}$/);
  });

  test('links never use the Host header if RESET_URL or PUBLIC_URL is set', async () => {
    const forged = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const port = await freePort();
    const byPublicUrl = await service.another({
      RESET_URL: '',
      PUBLIC_URL: 'https://files.example.com',
      PORT: String(port),
    });
    try {
      const [one, two] = [await tenantOf(service), await tenantOf(service)];
      expect((await forgot(service, one.email, forged)).status).toBe(200);
      const api = apiOf(`http://127.0.0.1:${port}${apiPrefix}`);
      expect((await forgot({ api }, two.email, forged)).status).toBe(200);
      const [first] = await mailsTo(mailServer, one.email);
      const [second] = await mailsTo(mailServer, two.email);
      expect(linkOf(first as NonNullable<typeof first>)).toMatch(
        /^http:\/\/127\.0\.0\.1:\d+\/set-password\?from=mail&token=/,
      );
      expect(linkOf(second as NonNullable<typeof second>)).toMatch(
        /^https:\/\/files\.example\.com\/console\/reset-password\?token=/,
      );
    } finally {
      await byPublicUrl.stop();
    }
  });

  test('a slow mail server delays no request, and its mail is sent once', async () => {
    const tenant = await tenantOf(service);
    const release = mailServer.hold();
    try {
      const asked = await forgot(service, tenant.email);
      expect(asked.status, 'answered while the server has the mail in its hands, or not even that').toBe(200);
      await until('a mail in the hands of the server', async () => mailServer.held === 1);
      expect((await logIn(service.api, tenant.email, tenant.password)).status).toBe(200);
      expect(mailServer.mails.some(({ to }) => to?.[0]?.address === tenant.email)).toBe(false);
    } finally {
      release();
    }
    expect(await mailsTo(mailServer, tenant.email)).toHaveLength(1);
  });

  test('a stop does not wait for a mail server that hangs, and the mail is sent after the next start', async () => {
    const own = await startTestPakhus({ SMTP_URL: mailServer.url, RESET_URL: page.url });
    const tenant = await tenantOf(own);
    const release = mailServer.hold();
    await forgot(own, tenant.email);
    await until('a mail in the hands of the server', async () => mailServer.held === 1);
    const first = own.pakhus.stop();
    await first;
    release();
    const next = await own.another();
    try {
      const mails = await mailsTo(mailServer, tenant.email, 1);
      expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
    } finally {
      await next.stop();
      await own.stop();
    }
  });
});

test('mail: a mail is retried until the server is up', async () => {
  const placeholder = await startMailServer();
  await placeholder.stop();
  const service = await startTestPakhus({ SMTP_URL: placeholder.url, RESET_URL: resetUrl });
  let mailServer: MailServer | null = null;
  try {
    const tenant = await tenantOf(service);
    const asked = await forgot(service, tenant.email);
    expect([asked.status, asked.body]).toEqual([200, { ok: true }]);
    await until('a failed attempt', async () => {
      const failed = await rowsOf(
        service.databaseUrl,
        `select from pgboss.job where name = 'mail.send' and state = 'retry'`,
      );
      return failed.length === 1;
    });
    mailServer = await startMailServer(placeholder.port);
    const [mail] = await mailsTo(mailServer, tenant.email);
    const token = tokenOf(mail as NonNullable<typeof mail>);
    const done = await post(service.api, '/auth/reset-password', { token, newPassword });
    expect(done.status, done.text).toBe(200);
  } finally {
    await service.stop();
    await mailServer?.stop();
  }
});

test('mail: a mail whose link has expired is not sent', async () => {
  const placeholder = await startMailServer();
  await placeholder.stop();
  const service = await startTestPakhus({ SMTP_URL: placeholder.url, RESET_URL: resetUrl });
  let mailServer: MailServer | null = null;
  const statesOf = async () =>
    (
      await rowsOf<{ state: string }>(
        service.databaseUrl,
        `select state::text from pgboss.job where name = 'mail.send'
         union all select state::text from pgboss.archive where name = 'mail.send'`,
      )
    ).map(({ state }) => state);
  try {
    const tenant = await tenantOf(service);
    await forgot(service, tenant.email);
    await until('a failed attempt', async () => (await statesOf()).includes('retry'));
    service.advance(15 * 60_000);
    mailServer = await startMailServer(placeholder.port);
    await until('the end of the job', async () => (await statesOf()).includes('completed'));
    expect(mailServer.mails).toEqual([]);
  } finally {
    await service.stop();
    await mailServer?.stop();
  }
});

describe('without a mail server', () => {
  test('a mail is a file in the outbox that only its owner can read', async () => {
    const service = await startTestPakhus();
    try {
      const tenant = await tenantOf(service);
      await forgot(service, tenant.email);
      const [mail] = await outboxTo(service.dataDir, tenant.email);
      if (!mail) throw new Error('no mail');
      expect((await stat(mail.file)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(mail.file))).mode & 0o777).toBe(0o700);
      expect(mail.html).toContain(tokenOf(mail));
      const { host } = new URL(service.baseUrl);
      expect(linkOf(mail), 'nothing else is known of where the service is').toMatch(
        new RegExp(`^http://${host}/console/reset-password\\?token=`),
      );
      const lines = (await readFile(mail.file, 'utf8')).split('\r\n');
      expect(lines, 'whoever opens the file can copy the link').toContain(linkOf(mail));
    } finally {
      await service.stop();
    }
  });
});

test('mail: a mail sealed with a lost key is given up and logged, and the next one is sent', async () => {
  const placeholder = await startMailServer();
  await placeholder.stop();
  let log = '';
  const service = await startTestPakhus(
    { SMTP_URL: placeholder.url, RESET_URL: resetUrl, ENCRYPTION_KEY: '12'.repeat(32) },
    (lines) => {
      log += lines;
    },
  );
  let mailServer: MailServer | null = null;
  try {
    const [first, second] = [await tenantOf(service), await tenantOf(service)];
    await forgot(service, first.email);
    await until('a failed attempt', async () => {
      const waiting = `select from pgboss.job where name = 'mail.send' and state = 'retry'`;
      return (await rowsOf(service.databaseUrl, waiting)).length === 1;
    });
    await service.pakhus.stop();
    mailServer = await startMailServer(placeholder.port);
    const later = await service.another({ ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'error' });
    try {
      await until('the mail is given up', async () => log.includes('ENCRYPTION_KEY'));
      await forgot(later, second.email);
      expect(await mailsTo(mailServer, second.email)).toHaveLength(1);
      expect(mailServer.mails, 'none for the first').toHaveLength(1);
    } finally {
      await later.stop();
    }
  } finally {
    await service.stop();
    await mailServer?.stop();
  }
});

test('mail: SMTP_URL without an address for links is a configuration error in every role', () => {
  for (const role of ['all', 'api', 'worker']) {
    const read = (more: Record<string, string>) =>
      readConfig({ SMTP_URL: 'smtp://mail.example', JWT_SECRET: 'x'.repeat(32), ROLE: role, ...more });
    expect(() => read({})).toThrow('PUBLIC_URL or RESET_URL is missing, but SMTP_URL is set');
    expect(read({ PUBLIC_URL: 'https://files.example.com' }).warnings).toEqual([]);
    expect(read({ RESET_URL: 'https://files.example.com/reset' }).warnings).toEqual([]);
  }
});

test('mail: links never use the Host header, even if only the worker knows the address and the mail server', async () => {
  const mailServer = await startMailServer();
  const api = await startTestPakhus({ ROLE: 'api' });
  const worker = await api.another({
    ROLE: 'worker',
    SMTP_URL: mailServer.url,
    PUBLIC_URL: 'https://files.example.com',
  });
  try {
    const tenant = await tenantOf(api);
    expect((await forgot(api, tenant.email, { host: 'evil.example' })).status).toBe(200);
    const [mail] = await mailsTo(mailServer, tenant.email);
    expect(linkOf(mail as NonNullable<typeof mail>)).toMatch(
      /^https:\/\/files\.example\.com\/console\/reset-password\?token=/,
    );
  } finally {
    await worker.stop();
    await api.stop();
    await mailServer.stop();
  }
});
