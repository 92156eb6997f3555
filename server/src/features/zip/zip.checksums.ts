// The crc32 of files that were stored before the service computed it, or went past it. What had to be read for a zip is
// kept, so that it is read once.
import type { Deps } from '../../contract/deps.ts';
import { digestContent } from '../../platform/hashing/buffered-hash.ts';
import { openEntry } from './zip.entry.ts';
import type { Zip } from './zip.find.ts';
import { setChecksums } from './zip.sql.ts';

const keptTogether = 500;

export class Checksums {
  readonly #deps: Deps;
  readonly #zip: Zip;
  readonly #signal: AbortSignal;
  #unkept: { readonly id: string; readonly crc32: number }[] = [];

  constructor(deps: Deps, zip: Zip, signal: AbortSignal) {
    this.#deps = deps;
    this.#zip = zip;
    this.#signal = signal;
  }

  /** Reads the file. */
  async compute(entry: number): Promise<number> {
    const bytes = this.#zip.layout.entries[entry]?.bytes ?? 0;
    if (bytes === 0) return this.note(entry, 0);
    const content = await openEntry(this.#deps, this.#zip, entry, { start: 0, end: bytes - 1 }, this.#signal);
    return this.note(entry, (await digestContent(this.#deps.hashing, content)).crc32);
  }

  async note(entry: number, crc32: number): Promise<number> {
    const file = this.#zip.files[entry];
    if (!file) return crc32;
    file.crc32 = crc32;
    this.#unkept.push({ id: file.id, crc32 });
    if (this.#unkept.length >= keptTogether) await this.keep();
    return crc32;
  }

  /** A zip is right without it. */
  async keep(): Promise<void> {
    const kept = this.#unkept;
    this.#unkept = [];
    if (kept.length === 0) return;
    const statement = setChecksums(
      this.#zip.projectId,
      kept.map(({ id }) => id),
      kept.map(({ crc32 }) => crc32),
    );
    await this.#deps.db.query(statement).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'failed to keep checksums of zipped files');
    });
  }
}
