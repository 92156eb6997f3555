// Copies a folder to a folder of a user and skips what is there: node mirror-folder.mjs FOLDER USER [TARGET]
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createClient, folderStore, fromPath } from '@pakhus/client/node';

const [source, user, target = ''] = process.argv.slice(2);
if (!source || !user) {
  console.error('Usage: node mirror-folder.mjs FOLDER USER [TARGET]');
  process.exit(2);
}
const atOnce = 4;
const { files } = createClient({ baseUrl: process.env.PAKHUS_URL, key: process.env.PAKHUS_KEY }).user(user);
const resumeStore = folderStore(join(tmpdir(), 'mirror-folder'));
const count = { uploaded: 0, skipped: 0 };

/** All versions of each file below the target, newest first, by path. */
async function listRemote(folder, found = new Map()) {
  for await (const entry of files.folders({ prefix: folder })) {
    if ('folder' in entry) await listRemote(toPath(folder, entry.folder), found);
    else {
      const path = toPath(folder, entry.file.name);
      found.set(path, [...(found.get(path) ?? []), entry.file]);
    }
  }
  return found;
}

const toPath = (...parts) => parts.filter(Boolean).join('/');

async function hash(path) {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}

async function mirror(path, folder, name, versions) {
  const { size } = await stat(path);
  const sha256 = await hash(path);
  const isStored = versions.some((version) => version.size === size && version.sha256 === sha256);
  if (isStored) count.skipped += 1;
  else {
    await files.upload(await fromPath(path), { folder, name, sha256, resumeStore });
    count.uploaded += 1;
    console.log(toPath(folder, name));
    // Only now: if this program ends before, the old version is still there.
    for (const { id } of versions) await files.delete(id);
  }
}

const remote = await listRemote(target);
const local = (await readdir(source, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .values();

async function work() {
  for (const { parentPath, name } of local) {
    const folder = toPath(target, ...relative(source, parentPath).split(sep));
    await mirror(join(parentPath, name), folder, name, remote.get(toPath(folder, name)) ?? []);
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
console.log(`${count.uploaded} uploaded, ${count.skipped} skipped`);
