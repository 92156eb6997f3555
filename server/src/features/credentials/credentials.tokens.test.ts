import { expect, test } from 'vitest';
import { newId } from '../../kernel/id.ts';
import { createTokenSigner } from './credentials.tokens.ts';

const secret = 'a secret that only this test knows about';
const claims = () => ({ sub: newId(), role: 'user', ttlMs: 60_000, pid: newId() }) as const;

test('tokens: one that was seen before still expires', () => {
  let now = Date.now();
  const signer = createTokenSigner(secret, () => now);
  const { token, jti } = signer.sign(claims());
  expect(signer.verify(token)).toMatchObject({ jti });
  expect(signer.verify(token)).toMatchObject({ jti });
  now += 61_000;
  expect(signer.verify(token)).toBeNull();
});

test('tokens: one that was seen before vouches for no other', () => {
  const signer = createTokenSigner(secret, Date.now);
  const { token } = signer.sign(claims());
  const [header, , signature] = token.split('.');
  const [, otherPayload] = signer.sign(claims()).token.split('.');
  expect(signer.verify(token)).not.toBeNull();
  expect(signer.verify(`${header}.${otherPayload}.${signature}`)).toBeNull();
  expect(signer.verify(token.slice(0, -2))).toBeNull();
  expect(createTokenSigner('another secret, of another service', Date.now).verify(token)).toBeNull();
});

test('tokens: more of them than are remembered are all accepted, again and again', () => {
  const signer = createTokenSigner(secret, Date.now);
  const signed = Array.from({ length: 1500 }, () => signer.sign(claims()));
  for (const { token, jti } of [...signed, ...signed]) expect(signer.verify(token)?.jti).toBe(jti);
});
