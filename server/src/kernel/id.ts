// Identifiers: what a UUID looks like, and how a new one is made.
import { randomBytes, randomUUID } from 'node:crypto';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && uuidPattern.test(value);

export const newId = (): string => randomUUID();

let latestMs = -1;
let ofLatest = 0;

/** A UUID (version 7) that begins with the time: later ones sort behind earlier ones, of one process at least. */
export function newTimedId(milliseconds: number): string {
  const ms = Math.floor(milliseconds);
  ofLatest = ms === latestMs ? (ofLatest + 1) & 0xfff : 0;
  latestMs = ms;
  const bytes = randomBytes(16);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | ofLatest, 6);
  bytes.writeUInt8(0x80 | ((bytes[8] as number) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
