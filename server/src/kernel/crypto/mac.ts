// HMAC-SHA-256 under one key. See docs/adr/0010-hmac.md.
import { createHmac, createSecretKey } from 'node:crypto';

/** The code of a text under the key that the function was made with. */
export type Mac = (text: string, encoding: 'hex' | 'base64url') => string;

export function createMac(key: Buffer | string): Mac {
  const secret = createSecretKey(Buffer.from(key));
  return (text, encoding) => createHmac('sha256', secret).update(text).digest(encoding);
}
