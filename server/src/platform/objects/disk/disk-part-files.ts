// The parts that clients send of an object on disk. A file holds the bytes of a part and then their md5, so that its etag
// is known without reading all of it.
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import { invalid } from '../../../kernel/error.ts';
import { inlineHashing } from '../../hashing/stream-hash.ts';
import { notingFaults } from '../body-reader.ts';
import type { Body } from '../object-store.ts';
import type { PutPartOptions, StagedPart } from '../staged-objects.ts';
import { guardDisk, isAbsent, lostBytes } from './disk-errors.ts';
import { closeQuietly, fdatasyncFd, openFd, readFd, writeAll } from './disk-files.ts';
import { assertListed, type ExpectedPart, listExpected, type Problem, refuse } from './disk-part-list.ts';
import { copyPieces, createPieceReader, createPieceWriter } from './disk-pieces.ts';
import { createFlags } from './disk-places.ts';
import { writeThroughSlabs } from './disk-slabs.ts';
import type { DiskResources } from './disk-writer.ts';

const digestBytes = 16;

export class DiskPartFiles {
  readonly #resources: DiskResources;

  constructor(resources: DiskResources) {
    this.#resources = resources;
  }

  /** Resolves to the etag. Replaces an earlier part of that number. */
  async put(
    key: string,
    number: number,
    bytes: number,
    body: Body,
    options: PutPartOptions,
  ): Promise<string> {
    const { signal, hash = inlineHashing.open('md5') } = options;
    const { places, slabs, space } = this.#resources;
    let hasBodyFailed = false;
    const reader = notingFaults(createPieceReader(body, signal), () => {
      hasBodyFailed = true;
    });
    const slab = slabs.take();
    let etag = '';
    const fill = async (fd: number) => {
      const writePiece = createPieceWriter(fd, space, 0, hash);
      let received = 0;
      await writeThroughSlabs(slabs, reader, slab, await reader.fill(slab), (piece) => {
        received += piece.length;
        if (received > bytes) throw wrongLength(bytes);
        return writePiece(piece);
      });
      if (received < bytes) throw wrongLength(bytes);
      const digest = await hash.digest();
      await writeAll(fd, digest, bytes);
      await fdatasyncFd(fd);
      etag = `"${digest.toString('hex')}"`;
    };
    try {
      const create = async () => places.create(this.#pathFor(key, number), key, createFlags, fill, signal);
      await guardDisk('put part', create, () => hasBodyFailed);
      return etag;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      slabs.giveBack(slab);
      reader.close();
    }
  }

  /** Joins the parts at `target`, unless there is an object already. Rejects with VALIDATION_ERROR if they do not fit. */
  async joinTo(
    target: string,
    key: string,
    bytes: number,
    parts: readonly StagedPart[],
    signal?: AbortSignal,
  ): Promise<void> {
    const { places } = this.#resources;
    const expected = listExpected(bytes);
    assertListed(expected, parts);
    const etags = new Map(parts.map(({ number, etag }) => [number, etag]));
    const open = (part: ExpectedPart) => this.#open(key, part, etags.get(part.number) ?? '');
    await assertStored(expected, open);
    const fill = async (fd: number) => {
      await this.#copyAll(fd, expected, open, signal);
      await fdatasyncFd(fd);
    };
    // Clients may replace parts at any time: a call that is late must not replace the object.
    await places.create(target, key, createFlags, fill, signal, places.moveIfAbsent);
  }

  async remove(key: string): Promise<void> {
    const folder = this.#resources.layout.partsFolder(key);
    await rm(folder, { recursive: true, force: true });
    this.#resources.places.forget(folder);
  }

  async #copyAll(
    fd: number,
    expected: readonly ExpectedPart[],
    open: (part: ExpectedPart) => Promise<number | Problem>,
    signal?: AbortSignal,
  ): Promise<void> {
    const { slabs, space } = this.#resources;
    const writePiece = createPieceWriter(fd, space);
    for (const part of expected) {
      signal?.throwIfAborted();
      const source = await open(part);
      if (typeof source === 'string') throw refuse([{ number: part.number, problem: source }]);
      const copied = copyPieces(slabs, source, part.bytes, writePiece, lostBytes);
      await copied.finally(() => closeQuietly(source));
    }
  }

  /** Resolves to a descriptor, or to what is wrong with the part. */
  async #open(key: string, { number, bytes }: ExpectedPart, etag: string): Promise<number | Problem> {
    let fd = -1;
    try {
      fd = await openFd(this.#pathFor(key, number), fs.constants.O_RDONLY);
      const problem = await findProblem(fd, bytes, etag);
      if (problem === null) return fd;
      closeQuietly(fd);
      return problem;
    } catch (error) {
      if (fd >= 0) closeQuietly(fd);
      if (!isAbsent(error)) throw error;
      await this.#resources.layout.assertRootExists();
      return 'missing';
    }
  }

  #pathFor(key: string, number: number): string {
    if (!Number.isSafeInteger(number) || number < 1) throw new Error(`Not a part number: ${number}`);
    return `${this.#resources.layout.partsFolder(key)}/${number}`;
  }
}

async function assertStored(
  expected: readonly ExpectedPart[],
  open: (part: ExpectedPart) => Promise<number | Problem>,
): Promise<void> {
  const problems: { number: number; problem: Problem }[] = [];
  for (const part of expected) {
    const found = await open(part);
    if (typeof found === 'number') closeQuietly(found);
    else problems.push({ number: part.number, problem: found });
  }
  if (problems.length > 0) throw refuse(problems);
}

async function findProblem(fd: number, bytes: number, etag: string): Promise<Problem | null> {
  if (fs.fstatSync(fd).size !== bytes + digestBytes) return 'size';
  const { buffer, bytesRead } = await readFd(fd, Buffer.alloc(digestBytes), 0, digestBytes, bytes);
  const stored = buffer.toString('hex', 0, bytesRead);
  return stored === etag.replaceAll('"', '').toLowerCase() ? null : 'etag';
}

const wrongLength = (bytes: number) =>
  invalid(422, [
    { path: 'body', message: `must hold exactly ${bytes} bytes, as its URL says`, code: 'size' },
  ]);
