// Reads a zip of stored entries by its central directory, and checks every checksum.
import { crc32 } from 'node:zlib';

const endBytes = 22;
const endMark = 0x0605_4b50;
const recordMark = 0x0201_4b50;
const headerMark = 0x0403_4b50;

/** The contents by name, in the order of the directory. Throws if anything does not fit together. */
export function readZip(zip: Buffer): Map<string, Buffer> {
  const end = zip.length - endBytes;
  expectMark(zip, end, endMark);
  const contents = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    expectMark(zip, at, recordMark);
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    const name = zip.toString('utf8', at + 46, at + 46 + Number(nameBytes));
    const content = contentAt(zip, zip.readUInt32LE(at + 42), zip.readUInt32LE(at + 24));
    if (crc32(content) !== zip.readUInt32LE(at + 16)) throw new Error(`${name} has another checksum`);
    if (contents.has(name)) throw new Error(`${name} is there twice`);
    contents.set(name, content);
    at += 46 + Number(nameBytes) + Number(extraBytes) + Number(commentBytes);
  }
  if (at !== end) throw new Error('the directory does not reach the end');
  return contents;
}

function contentAt(zip: Buffer, header: number, bytes: number): Buffer {
  expectMark(zip, header, headerMark);
  const begin = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  return zip.subarray(begin, begin + bytes);
}

function expectMark(zip: Buffer, at: number, mark: number): void {
  if (at < 0 || zip.readUInt32LE(at) !== mark)
    throw new Error(`no zip: ${mark.toString(16)} is not at ${at}`);
}
