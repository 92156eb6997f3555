import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WriteBack } from './disk-write-back.ts';

test('a fault between is reported at the end', async () => {
  // Linux refuses to sync a device without a disk.
  const fd = fs.openSync('/dev/null', 'w');
  try {
    const writeBack = new WriteBack(fd);
    writeBack.note(1 << 30);
    await writeBack.settled();
    await delay(1);
    writeBack.note(1 << 30);
    await expect(writeBack.finish()).rejects.toThrow('EINVAL');
  } finally {
    fs.closeSync(fd);
  }
});
