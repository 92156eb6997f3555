import { existsSync } from 'node:fs';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inWorkFolder } from './images.workspace.ts';

test('images: the folder of an attempt is removed after it, and so are old folders of killed processes', async () => {
  const [old, young] = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'pakhus-image-'))));
  await writeFile(join(old as string, 'input'), 'an image');
  const daysAgo = new Date(Date.now() - 2 * 86_400_000);
  await utimes(old as string, daysAgo, daysAgo);
  let used = '';
  // This process may have swept within the last hour.
  const inTwoHours = Date.now() + 7_200_000;
  const failing = inWorkFolder(
    async (folder) => {
      used = folder;
      expect(existsSync(folder)).toBe(true);
      throw new Error('it failed');
    },
    () => inTwoHours,
  );
  await expect(failing).rejects.toThrow('it failed');
  expect([used, old, young].map((folder) => existsSync(folder as string))).toEqual([false, false, true]);
  await rm(young as string, { recursive: true });
});
