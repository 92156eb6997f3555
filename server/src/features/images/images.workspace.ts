// The temporary folder of one attempt at an image. A killed process leaves its folder behind, with a customer's image in
// it, so the other processes sweep abandoned folders.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'pakhus-image-';
/** Far longer than any attempt takes. */
const abandonedAfterMs = 86_400_000;
const sweepEveryMs = 3_600_000;
let sweptAtMs = 0;

export async function inWorkFolder(
  work: (folder: string) => Promise<void>,
  now: () => number = Date.now,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await sweepAbandoned(now());
  }
}

async function sweepAbandoned(nowMs: number): Promise<void> {
  if (nowMs - sweptAtMs < sweepEveryMs) return;
  sweptAtMs = nowMs;
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    const found = await stat(folder).catch(() => null);
    // Folders of another system user are theirs to remove.
    if (!found || found.uid !== process.getuid?.()) continue;
    if (nowMs - found.mtimeMs > abandonedAfterMs)
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
