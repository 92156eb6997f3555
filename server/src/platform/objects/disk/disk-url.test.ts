import { describe, expect, it } from 'vitest';
import { createDownloadSigner } from './disk-url.ts';

const signer = createDownloadSigner(Buffer.alloc(32, 7));
const key = 'project/file';
const nowMs = 1_700_000_000_000;
const expires = nowMs / 1000 + 60;
const disposition = `attachment; filename="a&b=c.txt"; filename*=UTF-8''%C3%A5`;
const query = signer.sign(key, expires, 'text/plain', disposition);

describe('disk-url', () => {
  it('gives back what was signed, from a raw query and from a parsed one', () => {
    const claims = {
      key,
      contentType: 'text/plain',
      contentDisposition: disposition,
      expiresAt: new Date(expires * 1000),
    };
    expect(signer.verify(key, query, nowMs)).toEqual(claims);
    const parsed = Object.fromEntries(new URLSearchParams(query));
    expect(signer.verify(key, parsed, nowMs)).toEqual(claims);
  });

  it('is good until the second it expires, and no longer', () => {
    expect(signer.verify(key, query, expires * 1000 - 1)).not.toBeNull();
    expect(signer.verify(key, query, expires * 1000)).toBeNull();
  });

  const swapped = new URLSearchParams(query);
  swapped.set('type', disposition);
  swapped.set('disposition', 'text/plain');
  const signature = new URLSearchParams(query).get('signature') ?? '';
  // The last of 43 characters carries two bits that decoding drops: this one decodes to the same bytes.
  const twin = String.fromCharCode(signature.charCodeAt(42) + 1);

  it.each([
    ['nothing', ''],
    ['a later expiry', query.replace(String(expires), String(expires + 1))],
    ['an expiry in another spelling', query.replace(String(expires), `0${expires}`)],
    ['another type', query.replace('text%2Fplain', 'text%2Fhtml')],
    ['another disposition', query.replace('attachment', 'inline')],
    ['type and disposition swapped', swapped.toString()],
    ['a repeated field', `${query}&type=text%2Fhtml`],
    ['a field too many', `${query}&x=1`],
    ['a field too few', query.replace(/&type=[^&]*/, '')],
    ['no signature', query.replace(/&signature=.*/, '')],
    ['an empty signature', query.replace(/signature=.*/, 'signature=')],
    ['a padded signature', `${query}%3D`],
    ['a signature in another spelling', `${query.slice(0, -1)}${twin}`],
    ['a shorter signature', query.slice(0, -1)],
  ])('refuses %s', (_name, bad) => {
    expect(signer.verify(key, bad, nowMs)).toBeNull();
  });

  it('refuses another key, another secret, and fields that are no text', () => {
    expect(signer.verify('project/other', query, nowMs)).toBeNull();
    expect(signer.verify(`${key}?${query}`, query, nowMs)).toBeNull();
    expect(createDownloadSigner(Buffer.alloc(32, 8)).verify(key, query, nowMs)).toBeNull();
    const parsed = Object.fromEntries(new URLSearchParams(query));
    for (const odd of [['text/plain', 'text/plain'], 1, null, {}, '\ud800']) {
      expect(signer.verify(key, { ...parsed, type: odd }, nowMs)).toBeNull();
      expect(signer.verify(key, { ...parsed, expires: odd }, nowMs)).toBeNull();
    }
  });
});
