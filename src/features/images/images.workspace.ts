// The folder that one try at an image works in. A process that was killed leaves its folder behind, with a
// customer's image in it: those that live on remove it.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'pakhus-image-';
/** Far longer than any try takes, whoever makes it. */
const abandonedAfterMs = 3_600_000;
let sweptAtMs = 0;

export async function inWorkFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await sweepAbandoned(Date.now());
  }
}

async function sweepAbandoned(nowMs: number): Promise<void> {
  if (nowMs - sweptAtMs < abandonedAfterMs) return;
  sweptAtMs = nowMs;
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => join(tmpdir(), name))) {
    const found = await stat(folder).catch(() => null);
    if (found && nowMs - found.mtimeMs > abandonedAfterMs)
      // What belongs to another user of the machine is theirs to remove.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
