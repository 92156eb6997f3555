// What proves something about a share without a row: that its password was given, as a cookie, and that a download was
// counted, as the ETag of its answer.
import type { Clock } from '../clock.ts';
import { createMac } from './mac.ts';
import { sameText, sha256 } from './secret.ts';

export interface ShareProofs {
  /** For whoever gave the password. It dies with the password, and after `passSeconds`. */
  issuePass(shareId: string, passwordHash: string): string;
  acceptsPass(pass: string, shareId: string, passwordHash: string): boolean;
  /** The ETag of one counted download of the bytes with this ETag. */
  signEtag(shareId: string, etag: string, download: number): string;
  /** Whether this If-Range is the ETag of a counted download of this share. */
  acceptsEtag(ifRange: string, shareId: string): boolean;
}

export const passSeconds = 3_600;

const macLength = 22;
const signedEtag = /"([\w-]+)\.(\d+)\.([\w-]{22})"/;

/** Those signed with an earlier key are still accepted. */
export function createShareProofs(clock: Clock, key: Buffer, ...earlier: readonly Buffer[]): ShareProofs {
  const mac = createMac(key);
  const macs = [mac, ...earlier.map(createMac)];
  const isSigned = (text: string, signature: string) =>
    macs.some((one) => sameText(signature, one(text, 'base64url').slice(0, signature.length)));
  const passText = (shareId: string, passwordHash: string, expires: string) =>
    `pass/${shareId}/${expires}/${sha256(passwordHash).toString('hex')}`;
  const etagText = (shareId: string, etag: string, download: string) => `etag/${shareId}/${etag}/${download}`;
  return {
    issuePass(shareId, passwordHash) {
      const expires = String(Math.floor(clock() / 1000) + passSeconds);
      return `${expires}.${mac(passText(shareId, passwordHash, expires), 'base64url')}`;
    },
    acceptsPass(pass, shareId, passwordHash) {
      const [, expires = '', signature = ''] = /^(\d{1,15})\.([\w-]{43})$/.exec(pass) ?? [];
      if (signature === '' || Number(expires) * 1000 < clock()) return false;
      return isSigned(passText(shareId, passwordHash, expires), signature);
    },
    signEtag(shareId, etag, download) {
      const bare = etag.slice(1, -1);
      const signature = mac(etagText(shareId, bare, String(download)), 'base64url').slice(0, macLength);
      return `"${bare}.${download}.${signature}"`;
    },
    acceptsEtag(ifRange, shareId) {
      const [whole, bare = '', download = '', signature = ''] = signedEtag.exec(ifRange) ?? [];
      return whole === ifRange.trim() && isSigned(etagText(shareId, bare, download), signature);
    },
  };
}

/** A list of ETags in which those of counted downloads are those of the bytes again. */
export const withoutProofs = (etags: string): string => etags.replaceAll(new RegExp(signedEtag, 'g'), '"$1"');
