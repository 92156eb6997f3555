// No webhook leads inside: neither by its URL, nor by what its name resolves to, nor by what it resolves to later.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { type NameServer, startNameServer } from '../support/dns.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { createWebhook, deliveriesUntil } from '../support/webhooks.ts';

const host = 'hooks.customer.example';
/** Public, but nobody is there. */
const nowhere = '223.255.255.254';
const certificate = makeCertificate(host);

let names: NameServer;
let inside: Receiver;
/** Refuses what is not public. */
let strict: TestPakhus;
let tenant: Tenant;

beforeAll(async () => {
  [names, inside] = await Promise.all([startNameServer(), startReceiver()]);
  const outbound = { dnsServers: [names.address], timeoutMs: 500 };
  strict = await startTestPakhus({}, undefined, { outbound, webhookBounds: { pollMs: 20, lingerMs: 50 } });
  tenant = await createTenant(strict.api, await adminSession(strict.api));
});
afterAll(async () => {
  await strict.stop();
  await Promise.all([names.stop(), inside.stop()]);
});

/** Addresses, and ways of writing them that parsers understand differently. */
const tricks = [
  ...['http://127.0.0.1/', 'http://127.1/', 'http://127.0.1/', 'http://2130706433/', 'http://0177.0.0.1/'],
  ...[
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://127.000.000.001/',
  ],
  ...['http://①②⑦.⓪.⓪.①/', 'http://127。0。0。1/', 'http://%31%32%37.0.0.1/', 'http://0/', 'http://0.0.0.0/'],
  ...[
    'http://0.0.0.0:8080/',
    'http://10.0.0.1/',
    'http://10.1/',
    'http://100.64.0.1/',
    'http://100.100.100.200/',
  ],
  ...[
    'http://168.63.129.16/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
  ],
  ...['http://169.254.170.2/', 'http://172.16.0.1/', 'http://172.31.255.255/', 'http://192.0.0.192/'],
  ...[
    'http://192.0.2.1/',
    'http://192.168.1.1/',
    'http://192.168.257/',
    'http://198.18.0.1/',
    'http://198.51.100.1/',
  ],
  ...['http://203.0.113.1/', 'http://224.0.0.1/', 'http://239.255.255.250/', 'http://240.0.0.1/'],
  ...[
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::127.0.0.1]/',
  ],
  ...['http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/', 'http://[::ffff:a9fe:a9fe]/'],
  ...['http://[::ffff:0:127.0.0.1]/', 'http://[64:ff9b::127.0.0.1]/', 'http://[64:ff9b::a9fe:a9fe]/'],
  ...[
    'http://[64:ff9b:1::a00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  ],
  ...[
    'http://[2001:db8::1]/',
    'http://[100::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
  ],
  ...[
    'http://[fe80::1%25eth0]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://localhost/',
    'http://LOCALHOST/',
  ],
  ...[
    'http://localhost./',
    'http://localhost../',
    'http://api.localhost/',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://printer.local/',
  ],
  ...[
    'http://metadata.google.internal/',
    'http://metadata/',
    'http://redis:6379/',
    'http://router.home.arpa/',
  ],
  ...['http://1.0.0.127.in-addr.arpa/', 'http://user:secret@example.com/', 'http://example.com@127.0.0.1/'],
  ...[
    'http://127.0.0.1#@example.com/',
    'http://127.0.0.1\\@example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
  ],
  ...[
    'gopher://example.com/',
    'javascript:alert(1)',
    'data:text/plain,x',
    'unix:/run/docker.sock',
    '//example.com/',
  ],
  ...['example.com', 'http://', 'http:///', ' ', `https://example.com/${'x'.repeat(2100)}`],
];

describe('what the URL says', () => {
  test(`${tricks.length} addresses and tricks get 422, at POST and at PUT`, async () => {
    names.answerWith((name) => (name === host ? [nowhere] : []));
    const webhook = await createWebhook(strict.api, tenant.key, `https://${host}/`, { active: false });
    const accepted: string[] = [];
    for (const url of tricks) {
      const replies = await Promise.all([
        strict.api.post('/project/webhooks', tenant.key, { url }),
        strict.api.put(webhook.path, tenant.key, { url }),
      ]);
      if (replies.some((reply) => reply.status !== 422 || reply.body.error.details.issues[0].path !== 'url'))
        accepted.push(url);
    }
    expect(accepted).toEqual([]);
    expect(tricks.length).toBeGreaterThanOrEqual(60);
    await strict.api.delete(webhook.path, tenant.key);
  });
});

describe('what the name server says', () => {
  const url = () => `http://${host}:${inside.port}/hook`;

  test('a name that leads inside gets 422', async () => {
    for (const answer of [['127.0.0.1'], ['10.0.0.1', '169.254.169.254']]) {
      names.answerWith(() => answer);
      const reply = await strict.api.post('/project/webhooks', tenant.key, { url: url() });
      expect(reply.status, reply.text).toBe(422);
    }
  });

  test('a name that leads inside later is refused at delivery, and says so', async () => {
    names.answerWith(() => [nowhere]);
    const webhook = await createWebhook(strict.api, tenant.key, url());
    names.answerWith(() => ['127.0.0.1']);
    await createUser(strict.api, tenant.key);
    const [delivery] = await deliveriesUntil(
      'a try',
      strict.api,
      tenant.key,
      webhook,
      (all) => all.length > 0,
    );
    expect(delivery).toMatchObject({ status: 'retrying', response_status: null });
    expect(delivery?.error).toMatch(/public address/);
    expect(inside.got).toEqual([]);
    await strict.api.delete(webhook.path, tenant.key);
  });

  test('the name is asked for once in a try, so a second answer cannot lead inside', async () => {
    names.answerWith(() => [nowhere]);
    const webhook = await createWebhook(strict.api, tenant.key, url());
    names.asked.length = 0;
    let answers = 0;
    names.answerWith(() => {
      answers += 1;
      return [answers === 1 ? nowhere : '127.0.0.1'];
    });
    await createUser(strict.api, tenant.key);
    const [delivery] = await deliveriesUntil(
      'a try',
      strict.api,
      tenant.key,
      webhook,
      (all) => all.length > 0,
    );
    expect(delivery?.error).not.toMatch(/public address/);
    expect(names.asked).toEqual([host]);
    expect(inside.got).toEqual([]);
    await strict.api.delete(webhook.path, tenant.key);
  });

  test('of several addresses, only public ones are connected to', async () => {
    names.answerWith(() => ['127.0.0.1', nowhere, '10.0.0.1']);
    const webhook = await createWebhook(strict.api, tenant.key, url());
    await createUser(strict.api, tenant.key);
    await deliveriesUntil('a try', strict.api, tenant.key, webhook, (all) => all.length > 0);
    expect(inside.got).toEqual([]);
    await strict.api.delete(webhook.path, tenant.key);
  });

  test('a name that leads nowhere is accepted, and its deliveries say so', async () => {
    names.answerWith(() => []);
    const webhook = await createWebhook(strict.api, tenant.key, url());
    await createUser(strict.api, tenant.key);
    const [delivery] = await deliveriesUntil(
      'a try',
      strict.api,
      tenant.key,
      webhook,
      (all) => all.length > 0,
    );
    expect(delivery?.error).toMatch(/does not resolve/);
    await strict.api.delete(webhook.path, tenant.key);
  });
});

describe('the connection', () => {
  test('it goes to the address that was looked up, with the name in Host and in the certificate', async () => {
    const secure = await startReceiver({ tls: certificate });
    const outbound = { dnsServers: [names.address], ca: certificate.cert };
    const lenient = await startTestPakhus({ WEBHOOK_ALLOW_PRIVATE: 'true' }, undefined, { outbound });
    try {
      const own = await createTenant(lenient.api, await adminSession(lenient.api));
      names.asked.length = 0;
      names.answerWith(() => (names.asked.length > 1 ? ['127.0.0.2'] : ['127.0.0.1']));
      await createWebhook(lenient.api, own.key, `https://${host}:${secure.port}/hook?a=b`);
      const other = `https://other.${host}:${secure.port}/hook`;
      const misnamed = await createWebhook(lenient.api, own.key, other, { active: false });
      await createUser(lenient.api, own.key);
      await createUser(lenient.api, own.key);
      const [first] = await secure.receives(2);
      expect(first?.headers.host).toBe(`${host}:${secure.port}`);
      expect(first?.path).toBe('/hook?a=b');
      expect(names.asked).toEqual([host]);
      names.answerWith(() => ['127.0.0.1']);
      await lenient.api.post(`${misnamed.path}/test`, own.key);
      const [refused] = await deliveriesUntil(
        'the test',
        lenient.api,
        own.key,
        misnamed,
        ([only]) => only?.status === 'failed',
      );
      expect(refused?.error).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
      expect(secure.got).toHaveLength(2);
    } finally {
      await lenient.stop();
      await secure.stop();
    }
  });
});
