// The secrets of webhooks: shown once, stored encrypted, and the signatures made with them, as Standard Webhooks defines them.
import { createHmac, randomBytes } from 'node:crypto';
import type { Sealer } from '../../kernel/crypto/sealed.ts';
import { newId } from '../../kernel/id.ts';
import type { SecretRow } from './webhooks.sql.ts';

const prefix = 'whsec_';
const secretBytes = 32;

interface Sealing {
  readonly sealer: Sealer;
}

export interface NewSecret {
  /** Shown in this response only. */
  readonly plain: string;
  readonly row: SecretRow;
}

export function newSecret({ sealer }: Sealing, projectId: string, webhookId: string): NewSecret {
  const id = newId();
  const secret = randomBytes(secretBytes).toString('base64');
  const { keyId, bytes } = sealer.seal(secret, purposeOf(id));
  const row = { project_id: projectId, webhook_id: webhookId, id, key_id: keyId, sealed_secret: bytes };
  return { plain: `${prefix}${secret}`, row };
}

/** The bytes that sign; null if no known key decrypts them. */
export function openSecret(
  { sealer }: Sealing,
  row: Pick<SecretRow, 'id' | 'key_id' | 'sealed_secret'>,
): Buffer | null {
  const plain = sealer.open({ keyId: row.key_id, bytes: row.sealed_secret }, purposeOf(row.id));
  return plain === null ? null : Buffer.from(plain, 'base64');
}

/** The same secret, encrypted with the current key; null as above. */
export function sealAgain(deps: Sealing, row: SecretRow): { keyId: string; bytes: Buffer } | null {
  const secret = openSecret(deps, row);
  return secret && deps.sealer.seal(secret.toString('base64'), purposeOf(row.id));
}

const purposeOf = (id: string): string => `webhook:${id}`;

/** The three headers of a message. With several secrets there are several signatures, and any of them is enough. */
export function signedHeaders(
  secrets: readonly Buffer[],
  id: string,
  seconds: number,
  body: string,
): Record<string, string> {
  const signed = `${id}.${seconds}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
}
