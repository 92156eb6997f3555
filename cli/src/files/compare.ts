// Whether a local file and a remote one are the same.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { LocalFile } from './local.ts';
import type { RemoteFile } from './remote.ts';

/** `touched`: the same bytes, with another time. */
export type Comparison = 'same' | 'touched' | 'different';

/** Times pass through formats that round them. */
const roundingMs = 2;

export const isSameTime = ({ mtimeMs }: LocalFile, remote: RemoteFile): boolean =>
  remote.mtimeMs !== null && Math.abs(mtimeMs - remote.mtimeMs) < roundingMs;

/** By size, then by time; by content where the times differ, or always with `byContent`. */
export async function compareFiles(
  local: LocalFile,
  remote: RemoteFile,
  byContent: boolean,
  signal: AbortSignal,
): Promise<Comparison> {
  if (local.size !== remote.size) return 'different';
  const isTimely = isSameTime(local, remote);
  if (isTimely && (!byContent || remote.sha256 === null)) return 'same';
  if (remote.sha256 === null || (await hashFile(local.path, signal)) !== remote.sha256) return 'different';
  return isTimely ? 'same' : 'touched';
}

export async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}
