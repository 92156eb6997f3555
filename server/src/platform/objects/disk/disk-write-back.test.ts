import fs from 'node:fs';
import { expect, test } from 'vitest';
import { WriteBack } from './disk-write-back.ts';

test('a sync that fails during the upload is reported at its end', async () => {
  // Linux refuses to sync a device without a disk.
  const fd = fs.openSync('/dev/null', 'w');
  try {
    const writeBack = new WriteBack(fd);
    writeBack.note(1 << 30);
    await writeBack.settled();
    writeBack.note(1 << 30);
    await expect(writeBack.finish()).rejects.toThrow('EINVAL');
  } finally {
    fs.closeSync(fd);
  }
});
