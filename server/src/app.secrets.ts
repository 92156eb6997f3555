// The keys of the service, derived from JWT_SECRET and ENCRYPTION_KEY. What the previous secrets signed or sealed stays
// valid.
import { join } from 'node:path';
import { parseEncryptionKey, type Settings } from './contract/settings.ts';
import { createSealer, type Sealer } from './kernel/crypto/sealed.ts';
import { deriveKey, randomToken } from './kernel/crypto/secret.ts';
import { secretFromFile } from './platform/secret-file.ts';

export const readJwtSecret = async ({ JWT_SECRET, DATA_DIR }: Settings): Promise<string> =>
  JWT_SECRET ?? (await secretFromFile(join(DATA_DIR, 'secrets', 'jwt'), () => randomToken(48)));

/** Signatures are made with the first key and accepted from all of them. */
export function deriveKeys(purpose: string, secret: string, settings: Settings): [Buffer, ...Buffer[]] {
  const previous = settings.JWT_SECRET_PREVIOUS;
  return [deriveKey(secret, purpose), ...(previous === null ? [] : [deriveKey(previous, purpose)])];
}

/** Opens what any earlier key sealed, whether it was configured or derived. */
export function openSealer(settings: Settings, jwtSecret: string): Sealer {
  const { ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS, JWT_SECRET_PREVIOUS } = settings;
  const derived = (secret: string) => deriveKey(secret, 'encryption');
  const present = ENCRYPTION_KEY === null ? derived(jwtSecret) : readKey(ENCRYPTION_KEY);
  const previous = ENCRYPTION_KEY_PREVIOUS === null ? [] : [readKey(ENCRYPTION_KEY_PREVIOUS)];
  const previousDerived = JWT_SECRET_PREVIOUS === null ? [] : [derived(JWT_SECRET_PREVIOUS)];
  return createSealer(present, [...previous, derived(jwtSecret), ...previousDerived]);
}

function readKey(text: string): Buffer {
  const key = parseEncryptionKey(text);
  if (key === null) throw new Error('An encryption key is not 32 bytes, although readConfig has checked it');
  return key;
}
