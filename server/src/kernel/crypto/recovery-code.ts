// Codes that replace a lost authenticator. Each holds 120 random bits, so a plain hash of one is safe at rest.
import { randomBytes } from 'node:crypto';
import { sha256 } from './secret.ts';

const codeBytes = 15;
/** Without 0, 1, 8 and 9, which are easy to misread. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Four groups of six letters and digits. */
export function newRecoveryCode(): string {
  const letters = toBase32(randomBytes(codeBytes));
  return (letters.match(/.{6}/g) ?? []).join('-');
}

/** Ignores blanks, dashes and case, because people copy codes by hand. */
export const recoveryCodeHash = (code: string): Buffer => sha256(code.toLowerCase().replace(/[\s-]/g, ''));

function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('');
}
