import { expect, test } from 'vitest';
import { createShareProofs, passSeconds, withoutProofs } from './share-proof.ts';

let now = Date.parse('2026-01-31T12:00:00Z');
const old = Buffer.alloc(32, 1);
const proofs = createShareProofs(() => now, Buffer.alloc(32, 2), old);
const [share, other] = ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff', '7c9e6679-7425-40de-944b-e07fc1f90ae7'];

test('a pass is good for its share and password only, and for an hour', () => {
  const pass = proofs.issuePass(share, 'hash');
  expect(proofs.acceptsPass(pass, share, 'hash')).toBe(true);
  expect(proofs.acceptsPass(pass, other, 'hash')).toBe(false);
  expect(proofs.acceptsPass(pass, share, 'another hash')).toBe(false);
  for (const forged of [
    '',
    '.',
    `9${pass}`,
    pass.slice(0, -1),
    `${pass.split('.')[0]}.`,
    `99999999999.${'A'.repeat(43)}`,
  ])
    expect(proofs.acceptsPass(forged, share, 'hash'), forged).toBe(false);
  now += (passSeconds + 1) * 1000;
  expect(proofs.acceptsPass(pass, share, 'hash')).toBe(false);
});

test('an etag proves a download of its share, also under the previous key, and no other text does', () => {
  const etag = proofs.signEtag(share, '"abc-_1"', 3);
  expect(etag).toMatch(/^"abc-_1\.3\.[\w-]{22}"$/);
  expect(proofs.acceptsEtag(etag, share)).toBe(true);
  expect(proofs.acceptsEtag(createShareProofs(() => now, old).signEtag(share, '"a"', 1), share)).toBe(true);
  expect(proofs.acceptsEtag(etag, other)).toBe(false);
  for (const forged of [
    '"abc-_1"',
    etag.replace('.3.', '.4.'),
    etag.replace('abc', 'abd'),
    `W/${etag}`,
    `${etag}, "x"`,
    '',
  ])
    expect(proofs.acceptsEtag(forged, share), forged).toBe(false);
});

test('conditions see the etag of the bytes', () => {
  const etag = proofs.signEtag(share, '"abc"', 12);
  expect(withoutProofs(`"x", W/${etag},${etag}`)).toBe('"x", W/"abc","abc"');
  expect(withoutProofs('Sat, 31 Jan 2026 12:00:00 GMT')).toBe('Sat, 31 Jan 2026 12:00:00 GMT');
});
