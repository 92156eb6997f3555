// Webhook signatures, against the published test vector of Standard Webhooks and against what an attacker sends.
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signWebhook, verifyWebhook } from '../src/webhooks.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const vector = {
  body: '{"test": 2432232314}',
  now: 1_614_265_330_000,
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};
const sign = (id: string, at: number, body: string, by = secret) =>
  `v1,${createHmac('sha256', Buffer.from(by.slice(6), 'base64'))
    .update(`${id}.${at}.${body}`)
    .digest('base64')}`;

describe('verifyWebhook', () => {
  const { body, headers, now } = vector;

  test('accepts the published example, as text, bytes and Headers', async () => {
    expect(await verifyWebhook(body, headers, secret, { now })).toEqual({ test: 2432232314 });
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook(bytes, new Headers(headers), secret, { now })).toEqual({ test: 2432232314 });
  });

  test('accepts any of several signatures and secrets, as while a secret is replaced', async () => {
    const other = `whsec_${Buffer.from('another secret of the receiver').toString('base64')}`;
    const both = { ...headers, 'webhook-signature': `v1a,x v1,AAAA ${headers['webhook-signature']}` };
    expect(await verifyWebhook(body, both, [other, secret], { now })).toEqual({ test: 2432232314 });
  });

  test('takes header names as any framework writes them', async () => {
    const capital = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'Webhook'), [value]]),
    );
    expect(await verifyWebhook(body, capital, secret, { now })).toEqual({ test: 2432232314 });
  });

  test.each([
    ['another body', { body: '{"test": 2432232315}' }],
    ['another id', { headers: { ...headers, 'webhook-id': 'msg_other' } }],
    ['another time', { headers: { ...headers, 'webhook-timestamp': '1614265331' } }],
    ['no signature', { headers: { ...headers, 'webhook-signature': undefined } }],
    ['an empty signature', { headers: { ...headers, 'webhook-signature': 'v1,' } }],
    ['a signature of another version', { headers: { ...headers, 'webhook-signature': 'v2,g0hM9SsE' } }],
    ['a time that is no number', { headers: { ...headers, 'webhook-timestamp': '1e9' } }],
    ['a message of six minutes ago', { now: now + 360_000 }],
    ['a message of the future', { now: now - 360_000 }],
  ])('refuses %s', async (_, change) => {
    const sent = { body, headers, now, ...change };
    await expect(verifyWebhook(sent.body, sent.headers, secret, { now: sent.now })).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
    });
  });

  test('takes the clock by default', async () => {
    const at = Math.floor(Date.now() / 1000);
    const fresh = { ...headers, 'webhook-timestamp': String(at) };
    fresh['webhook-signature'] = sign(headers['webhook-id'], at, body);
    expect(await verifyWebhook(body, fresh, secret)).toEqual({ test: 2432232314 });
  });

  test('says that a secret is unusable', async () => {
    await expect(verifyWebhook(body, headers, 'whsec_', { now })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });
});

describe('signWebhook', () => {
  const { body, headers, now } = vector;
  const id = headers['webhook-id'];

  test('makes the published example', async () => {
    expect(await signWebhook(body, secret, { id, now })).toEqual(headers);
  });

  test('signs with each secret, for receivers that know any of them', async () => {
    const other = `whsec_${Buffer.from('another secret of the receiver').toString('base64')}`;
    const signed = await signWebhook(body, [other, secret], { id });
    for (const known of [other, secret]) expect(await verifyWebhook(body, signed, known)).toBeDefined();
  });
});
