import { describe, expect, it } from 'vitest';
import { createPartSigner } from './disk-part-url.ts';
import { createDownloadSigner } from './disk-url.ts';

const secret = Buffer.alloc(32, 7);
const signer = createPartSigner(secret);
const key = 'project/object';
const nowMs = 1_700_000_000_000;
const expires = nowMs / 1000 + 60;
const query = signer.sign(key, 3, 1000, expires);

describe('disk-part-url', () => {
  it('gives back the length that was signed, until the second it expires', () => {
    expect(signer.verify(key, 3, query, nowMs)).toEqual({ bytes: 1000 });
    const parsed = Object.fromEntries(new URLSearchParams(query));
    expect(signer.verify(key, 3, parsed, expires * 1000 - 1)).toEqual({ bytes: 1000 });
    expect(signer.verify(key, 3, query, expires * 1000)).toBeNull();
  });

  it.each([
    ['nothing', ''],
    ['a later expiry', query.replace(String(expires), String(expires + 1))],
    ['another length', query.replace('size=1000', 'size=1001')],
    ['a length in another spelling', query.replace('size=1000', 'size=01000')],
    ['a repeated field', `${query}&size=1000`],
    ['a field too many', `${query}&x=1`],
    ['no signature', query.replace(/&signature=.*/, '')],
    ['an empty signature', query.replace(/signature=.*/, 'signature=')],
    ['a padded signature', `${query}%3D`],
  ])('refuses %s', (_name, bad) => {
    expect(signer.verify(key, 3, bad, nowMs)).toBeNull();
  });

  it('refuses another key, number and secret, and the signature of a download', () => {
    expect(signer.verify('project/other', 3, query, nowMs)).toBeNull();
    expect(signer.verify(`${key} 3`, 3, query, nowMs)).toBeNull();
    expect(signer.verify(key, 4, query, nowMs)).toBeNull();
    expect(createPartSigner(Buffer.alloc(32, 8)).verify(key, 3, query, nowMs)).toBeNull();
    const download = new URLSearchParams(createDownloadSigner(secret).sign(key, expires, '', ''));
    const forged = `expires=${expires}&size=1000&signature=${download.get('signature')}`;
    expect(signer.verify(key, 3, forged, nowMs)).toBeNull();
  });
});
