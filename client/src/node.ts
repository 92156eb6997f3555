// @pakhus/client/node: files by their path, and unfinished uploads remembered in a folder.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PakhusError } from './error.ts';
import type { Source } from './upload/source.ts';
import type { ResumeStore } from './upload/store.ts';

export * from './index.ts';

/** A file to upload. It is opened at the first read and closed by the upload. */
export async function fromPath(path: string): Promise<Source> {
  const full = resolve(path);
  const facts = await stat(full);
  if (!facts.isFile()) throw new PakhusError('INVALID_ARGUMENT', `${path} is not a file`);
  const { size, mtimeMs } = facts;
  let opening: ReturnType<typeof open> | undefined;
  return {
    name: basename(full),
    size,
    isSeekable: true,
    fingerprint: `${full}:${size}:${mtimeMs}`,
    async read(offset, length) {
      opening ??= open(full);
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
      const { bytesRead } = await (await opening).read(bytes, { position: offset });
      return bytes.subarray(0, bytesRead);
    },
    async sha256() {
      const hash = createHash('sha256');
      await pipeline(createReadStream(full), hash);
      return hash.digest('hex');
    },
    async close() {
      await (await opening)?.close();
      opening = undefined;
    },
  };
}

/** Remembers unfinished uploads in a folder, one small file each, readable by its owner alone. */
export function folderStore(folder: string): ResumeStore {
  const pathOf = (key: string) => join(folder, `${createHash('sha256').update(key).digest('hex')}.json`);
  return {
    async get(key) {
      try {
        return await readFile(pathOf(key), 'utf8');
      } catch {
        return null;
      }
    },
    async set(key, value) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Whoever has the URL of an upload can send to it.
      const draft = `${pathOf(key)}.${process.pid}`;
      await writeFile(draft, value, { mode: 0o600 });
      await rename(draft, pathOf(key));
    },
    delete: (key) => rm(pathOf(key), { force: true }),
  };
}
