// Computes where every byte of a stored (uncompressed) zip is, without the bytes of its files: any range of the zip can be
// produced again, identically. Sizes and offsets beyond 32 bits use zip64 (APPNOTE 6.3, sections 4.3 and 4.5).

export interface ZipEntry {
  /** Relative, with slashes between folders. See zip-names.ts. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAtMs: number;
}

/** A stretch of the zip. Positions count from the beginning of that part, both ends inclusive. */
export interface ZipPiece {
  /** The header before an entry, its content, its record in the directory, or the end of the zip. */
  readonly part: 'header' | 'content' | 'record' | 'end';
  /** The number of the entry; for the end, the number of all entries. */
  readonly entry: number;
  readonly start: number;
  readonly end: number;
}

const headerBytes = 30;
const recordBytes = 46;
const endBytes = 22;
const end64Bytes = 56;
const locatorBytes = 20;
const timestampBytes = 9;
/** In a 32-bit field: the value is in the zip64 extra field. */
const max32 = 0xffff_ffff;
const max16 = 0xffff;
const utf8Names = 0x0800;
const version20 = 20;
const version45 = 45;
const madeOnUnix = 3 << 8;
/** A plain file that its owner may write and everybody may read. */
const unixMode = 0o100_644;

export class ZipLayout {
  readonly entries: readonly ZipEntry[];
  /** Where the header of each entry begins, and at the end where the directory does. */
  readonly #offsets: Float64Array;
  /** Where the record of each entry begins, and at the end where the directory ends. */
  readonly #records: Float64Array;

  constructor(entries: readonly ZipEntry[]) {
    this.entries = entries;
    this.#offsets = new Float64Array(entries.length + 1);
    this.#records = new Float64Array(entries.length + 1);
    const nameBytes = entries.map(({ name }) => Buffer.byteLength(name));
    for (const [index, { bytes }] of entries.entries()) {
      const header = headerBytes + (nameBytes[index] ?? 0) + timestampBytes + (bytes >= max32 ? 20 : 0);
      this.#offsets[index + 1] = this.#offset(index) + header + bytes;
    }
    this.#records[0] = this.#offset(entries.length);
    for (const index of entries.keys()) {
      const extra = timestampBytes + this.#extra64(index).length;
      this.#records[index + 1] = this.#record(index) + recordBytes + (nameBytes[index] ?? 0) + extra;
    }
  }

  /** Of the whole zip. */
  get bytes(): number {
    return this.#directoryEnd + (this.#needsEnd64 ? end64Bytes + locatorBytes : 0) + endBytes;
  }

  /** How long the header of an entry is. */
  headerBytes(index: number): number {
    return this.#offset(index + 1) - this.#offset(index) - this.#entry(index).bytes;
  }

  /** The pieces of a range in their order; `end` is inclusive. */
  *pieces(start: number, end: number): Generator<ZipPiece> {
    const count = this.entries.length;
    for (let entry = findBefore(this.#offsets, start); entry < count; entry += 1) {
      const at = this.#offset(entry);
      if (at > end) return;
      const contentAt = this.#offset(entry + 1) - (this.entries[entry]?.bytes ?? 0);
      yield* cut('header', entry, at, contentAt, start, end);
      yield* cut('content', entry, contentAt, this.#offset(entry + 1), start, end);
    }
    for (let entry = findBefore(this.#records, start); entry < count; entry += 1) {
      if (this.#record(entry) > end) return;
      yield* cut('record', entry, this.#record(entry), this.#record(entry + 1), start, end);
    }
    yield* cut('end', count, this.#directoryEnd, this.bytes, start, end);
  }

  /** What comes before the content of an entry. */
  header(index: number, crc32: number): Buffer {
    const { name, bytes, modifiedAtMs } = this.#entry(index);
    const is64 = bytes >= max32;
    const fixed = Buffer.alloc(headerBytes);
    const nameBytes = Buffer.from(name);
    fixed.writeUInt32LE(0x0403_4b50, 0);
    this.#writeCommon(fixed, 4, { is64, crc32, bytes, modifiedAtMs, nameLength: nameBytes.length });
    fixed.writeUInt16LE(timestampBytes + (is64 ? 20 : 0), 28);
    return Buffer.concat([
      fixed,
      nameBytes,
      timestampField(modifiedAtMs),
      is64 ? field64([bytes, bytes]) : none,
    ]);
  }

  /** What the directory at the end says of an entry. */
  record(index: number, crc32: number): Buffer {
    const { name, bytes, modifiedAtMs } = this.#entry(index);
    const extra64 = this.#extra64(index);
    const is64 = extra64.length > 0;
    const fixed = Buffer.alloc(recordBytes);
    const nameBytes = Buffer.from(name);
    fixed.writeUInt32LE(0x0201_4b50, 0);
    fixed.writeUInt16LE(madeOnUnix | (is64 ? version45 : version20), 4);
    this.#writeCommon(fixed, 6, { is64, crc32, bytes, modifiedAtMs, nameLength: nameBytes.length });
    fixed.writeUInt16LE(timestampBytes + extra64.length, 30);
    fixed.writeUInt32LE((unixMode << 16) >>> 0, 38);
    fixed.writeUInt32LE(Math.min(this.#offset(index), max32), 42);
    return Buffer.concat([fixed, nameBytes, timestampField(modifiedAtMs), extra64]);
  }

  /** What follows the last record. */
  end(): Buffer {
    const count = this.entries.length;
    const start = this.#offset(count);
    const size = this.#directoryEnd - start;
    const end = Buffer.alloc(endBytes);
    end.writeUInt32LE(0x0605_4b50, 0);
    end.writeUInt16LE(Math.min(count, max16), 8);
    end.writeUInt16LE(Math.min(count, max16), 10);
    end.writeUInt32LE(Math.min(size, max32), 12);
    end.writeUInt32LE(Math.min(start, max32), 16);
    return this.#needsEnd64 ? Buffer.concat([buildEnd64(count, size, start), end]) : end;
  }

  /** The fields that headers and records share: version, flags, method, time, crc32, sizes and the length of the name. */
  #writeCommon(
    into: Buffer,
    at: number,
    values: { is64: boolean; crc32: number; bytes: number; modifiedAtMs: number; nameLength: number },
  ): void {
    const [time, date] = toDosTime(values.modifiedAtMs);
    const size = Math.min(values.bytes, max32);
    into.writeUInt16LE(values.is64 ? version45 : version20, at);
    into.writeUInt16LE(utf8Names, at + 2);
    into.writeUInt16LE(time, at + 6);
    into.writeUInt16LE(date, at + 8);
    into.writeUInt32LE(values.crc32, at + 10);
    into.writeUInt32LE(size, at + 14);
    into.writeUInt32LE(size, at + 18);
    into.writeUInt16LE(values.nameLength, at + 22);
  }

  /** The zip64 field of a record: only what does not fit into 32 bits, in this order. */
  #extra64(index: number): Buffer {
    const { bytes } = this.#entry(index);
    const offset = this.#offset(index);
    if (bytes < max32 && offset < max32) return none;
    return field64([...(bytes < max32 ? [] : [bytes, bytes]), ...(offset < max32 ? [] : [offset])]);
  }

  #entry(index: number): ZipEntry {
    const entry = this.entries[index];
    if (!entry) throw new RangeError(`The zip has no entry ${index}`);
    return entry;
  }

  #offset(index: number): number {
    return this.#offsets[index] ?? 0;
  }

  #record(index: number): number {
    return this.#records[index] ?? 0;
  }

  get #directoryEnd(): number {
    return this.#record(this.entries.length);
  }

  get #needsEnd64(): boolean {
    const count = this.entries.length;
    const start = this.#offset(count);
    return count >= max16 || start >= max32 || this.#directoryEnd - start >= max32;
  }
}

const none = Buffer.alloc(0);

/** The part of [from, to) that lies within [start, end]. */
function* cut(
  part: ZipPiece['part'],
  entry: number,
  from: number,
  to: number,
  start: number,
  end: number,
): Generator<ZipPiece> {
  const first = Math.max(from, start);
  const last = Math.min(to - 1, end);
  if (first <= last) yield { part, entry, start: first - from, end: last - from };
}

/** The last index whose position is not beyond `position`; 0 if all are. */
function findBefore(positions: Float64Array, position: number): number {
  let low = 0;
  let high = positions.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((positions[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

function field64(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(0x0001, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return field;
}

function buildEnd64(count: number, size: number, start: number): Buffer {
  const end64 = Buffer.alloc(end64Bytes + locatorBytes);
  end64.writeUInt32LE(0x0606_4b50, 0);
  end64.writeBigUInt64LE(BigInt(end64Bytes - 12), 4);
  end64.writeUInt16LE(madeOnUnix | version45, 12);
  end64.writeUInt16LE(version45, 14);
  end64.writeBigUInt64LE(BigInt(count), 24);
  end64.writeBigUInt64LE(BigInt(count), 32);
  end64.writeBigUInt64LE(BigInt(size), 40);
  end64.writeBigUInt64LE(BigInt(start), 48);
  end64.writeUInt32LE(0x0706_4b50, end64Bytes);
  end64.writeBigUInt64LE(BigInt(start + size), end64Bytes + 8);
  end64.writeUInt32LE(1, end64Bytes + 16);
  return end64;
}

/** DOS times have no time zone and are taken for local ones: readers that know this field get the right time. */
function timestampField(modifiedAtMs: number): Buffer {
  const field = Buffer.alloc(timestampBytes);
  field.writeUInt16LE(0x5455, 0);
  field.writeUInt16LE(5, 2);
  field.writeUInt8(1, 4);
  field.writeInt32LE(Math.min(Math.max(Math.floor(modifiedAtMs / 1000), 0), 0x7fff_ffff), 5);
  return field;
}

/** In UTC, from 1980 to 2107, in steps of two seconds. */
function toDosTime(modifiedAtMs: number): [time: number, date: number] {
  const first = Date.UTC(1980, 0, 1);
  const last = Date.UTC(2107, 11, 31, 23, 59, 58);
  const at = new Date(Math.min(Math.max(modifiedAtMs, first), last));
  return [
    (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  ];
}
