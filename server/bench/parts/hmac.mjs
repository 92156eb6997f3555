// Our HMAC beside createHmac, on the text of a signed download URL. See docs/adr/0010-hmac.md.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { createMac } from '../../dist/kernel/crypto/mac.js';
import { compare } from './support.mjs';

const key = randomBytes(32);
const secret = createSecretKey(key);
const ours = createMac(key);
const text = `pakhus download 2 ${'a'.repeat(73)}?expires=1800000000&type=image%2Fpng&disposition=attachment`;
const repeat = (sign) => async (count) => {
  for (let n = 0; n < count; n += 1) sign(text + n);
};
await compare(
  'signature of a download URL',
  {
    ours: repeat((one) => ours(one, 'base64url')),
    createHmac: repeat((one) => createHmac('sha256', secret).update(one).digest('base64url')),
  },
  { count: 50_000 },
);
