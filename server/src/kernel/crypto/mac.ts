// HMAC-SHA-256, as RFC 2104 builds it from its hash. Node's own makes an object for each use that the collector has
// to finalize; two hashes in one go each cost a request a third less, and there is a signature in most answers.
import { hash } from 'node:crypto';
import { sha256 } from './secret.ts';

/** The code of a text under the key that the function was made with. */
export type Mac = (text: string, encoding: 'hex' | 'base64url') => string;

const blockBytes = 64;
const digestBytes = 32;

export function createMac(key: Buffer | string): Mac {
  const block = Buffer.alloc(blockBytes);
  const secret = Buffer.from(key);
  (secret.length > blockBytes ? sha256(secret) : secret).copy(block);
  const innerPad = block.map((byte) => byte ^ 0x36);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  outer.set(block.map((byte) => byte ^ 0x5c));
  return (text, encoding) => {
    const inner = hash('sha256', Buffer.concat([innerPad, Buffer.from(text)]), 'binary');
    outer.write(inner, blockBytes, 'binary');
    return hash('sha256', outer, encoding);
  };
}
