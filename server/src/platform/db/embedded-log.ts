// PostgreSQL's log: the current file and the previous one, both bounded. Explains a failed start, but never contains
// statements, which could hold secrets.

import { copyFile, open, stat, truncate } from 'node:fs/promises';

const bytesMax = 4 * 1024 * 1024;
const tailBytesMax = 3_000;

export async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (found) => found.size,
    () => 0,
  );
}

/** Writers append, so they continue at the start of the truncated file. */
export async function boundLog(path: string): Promise<void> {
  if ((await sizeOf(path)) <= bytesMax) return;
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
}

/** The last lines written since the file had `from` bytes. */
export async function readTail(path: string, from: number): Promise<string> {
  const size = await sizeOf(path);
  const start = Math.max(size < from ? 0 : from, size - tailBytesMax);
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytesMax), 0, tailBytesMax, start);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}
