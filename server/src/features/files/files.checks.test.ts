import { describe, expect, test } from 'vitest';
import type { Subject } from '../../contract/subject.ts';
import type { FilePart } from '../../platform/forms/form-reader.ts';
import { findRefusedType, gatherFacts } from './files.checks.ts';

const hex = (digits: string, paddingBytes = 0) =>
  Buffer.concat([Buffer.from(digits.replaceAll(' ', ''), 'hex'), Buffer.alloc(paddingBytes)]);
const png = hex('89504e470d0a1a0a 0000000d49484452 0000000100000001 0806000000 1f15c489', 64);
const bitmap = hex('424d 46000000 00000000 36000000 28000000 02000000 02000000', 40);
const program = hex('4d5a9000 03000000 04000000 ffff0000', 44);
program[0x3c] = 0x40;
const executable = Buffer.concat([program.subarray(0, 0x40), Buffer.from('PE\0\0'), hex('6486', 200)]);
const wav = Buffer.concat([Buffer.from('RIFF$\0\0\0WAVEfmt '), hex('10000000 0100', 30)]);
const buildEbml = (documentType: string) =>
  Buffer.concat([
    hex('1a45dfa3'),
    Buffer.from([0x80 | (documentType.length + 3), 0x42, 0x82, 0x80 | documentType.length]),
    Buffer.from(documentType),
    Buffer.alloc(40),
  ]);

/** One stored entry, larger than the bytes that detection reads. */
function buildZip(entryName: string): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt32LE(9000, 18);
  header.writeUInt32LE(9000, 22);
  header.writeUInt16LE(entryName.length, 26);
  return Buffer.concat([header, Buffer.from(entryName), Buffer.alloc(9000)]);
}
const zip = buildZip('media/image1.png');

async function refused(declared: string, bytes: Buffer | string, allowedMimes = [declared]) {
  const user = { plan: { allowedMimes } } as unknown as Subject;
  const part = { filename: 'f', contentType: declared } as FilePart;
  return findRefusedType(user, [], await gatherFacts(user, [], part, Buffer.from(bytes)))?.type ?? null;
}

describe('a plan that allows just the declared type takes', () => {
  const openXml = 'application/vnd.openxmlformats-officedocument';
  test.each<[string, Buffer | string]>([
    ['text/plain', Buffer.from('\ufeffhej', 'utf16le')],
    ['text/csv', Buffer.from('\ufeffa;b\r\n', 'utf16le')],
    ['text/plain', 'MZ'],
    ['text/plain', 'MZ is short for Milizia'],
    ['text/plain', 'BMW kører på æbler, og det er ikke nogen spøg'],
    ['text/plain', 'BM: møde kl. 9'],
    [`${openXml}.wordprocessingml.document`, zip],
    [`${openXml}.spreadsheetml.sheet`, zip],
    [`${openXml}.presentationml.presentation`, zip],
    ['application/vnd.oasis.opendocument.text', zip],
    ['application/epub+zip', zip],
    ['application/java-archive', zip],
    ['application/vnd.android.package-archive', zip],
    ['application/vnd.android.package-archive', buildZip('META-INF/MANIFEST.MF')],
    ['application/x-zip-compressed', zip],
    ['application/xml', '<?xml version="1.0"?>\n<p>x</p>'],
    ['text/xml', '<?xml version="1.0"?>\n<p>x</p>'],
    ['text/xml', '<?xml version="1.0"?><note/>'],
    ['application/rss+xml', '<?xml version="1.0"?><rss/>'],
    ['application/vnd.google-earth.kml+xml', '<?xml version="1.0"?><kml/>'],
    ['text/markdown', '<p align="center">hi</p>\n# T'],
    ['audio/x-wav', wav],
    ['audio/mp3', hex('fffb9064', 413)],
    ['application/x-gzip', hex('1f8b0800000000000003', 20)],
    ['application/x-tgz', hex('1f8b0800000000000003', 20)],
    ['image/jpg', hex('ffd8ffe000104a46494600', 20)],
    ['image/x-png', png],
    ['image/vnd.microsoft.icon', hex('00000100 0100 1010', 40)],
    ['text/rtf', '{\\rtf1\\ansi hello}'],
    ['application/x-rar-compressed', hex('526172211a0700', 20)],
    ['application/vnd.rar', hex('526172211a070100', 20)],
    ['video/x-matroska', buildEbml('matroska')],
    ['video/x-matroska', buildEbml('webm')],
    ['audio/webm', buildEbml('webm')],
    ['audio/mp4', Buffer.concat([hex('00000018'), Buffer.from('ftypisom'), Buffer.alloc(20)])],
    ['application/msword', hex('d0cf11e0a1b11ae1', 504)],
  ])('%s', async (declared, bytes) => {
    expect(await refused(declared, bytes)).toBeNull();
  });
});

describe('a plan that does not allow what the bytes prove refuses', () => {
  const script = '<script>alert(1)</script>';
  test.each<[string, string, Buffer | string, string]>([
    ['PNG as text', 'text/plain', png, 'image/png'],
    ['a bitmap as text', 'text/plain', bitmap, 'image/bmp'],
    [
      'MP3 behind a tag as text',
      'text/plain',
      hex('494433 0400 00 00000002 0000 fffb9064', 400),
      'audio/mpeg',
    ],
    ['an MP3 frame as text', 'text/plain', hex('fffb9064', 413), 'audio/mpeg'],
    ['HTML as text', 'text/plain', `<html>${script}`, 'text/html'],
    ['HTML in UTF-16 as text', 'text/plain', Buffer.from(`\ufeff<html>${script}`, 'utf16le'), 'text/html'],
    ['a program as an image', 'image/png', executable, 'application/x-msdownload'],
    ['PDF as an image', 'image/jpeg', '%PDF-1.7\n', 'application/pdf'],
    ['HTML as an image', 'image/png', `<!doctype html>${script}`, 'text/html'],
    [
      'XHTML as an image',
      'image/png',
      `<?xml version="1.0"?><html>${script}</html>`,
      'application/xhtml+xml',
    ],
    ['SVG as an image', 'image/png', `<svg>${script}</svg>`, 'image/svg+xml'],
    ['SVG as XML', 'application/xml', `<svg>${script}</svg>`, 'image/svg+xml'],
    ['XHTML as XML', 'text/xml', `<?xml version="1.0"?><html>${script}</html>`, 'application/xhtml+xml'],
    ['zip as an image', 'image/png', zip, 'application/zip'],
    ['HTML as XML', 'application/xml', `<!doctype html>${script}`, 'text/html'],
    ['an icon as Markdown', 'text/markdown', hex('00000100 0100 1010', 40), 'image/x-icon'],
  ])('%s', async (_, declared, bytes, type) => {
    expect(await refused(declared, bytes)).toBe(type);
    expect(await refused(declared, bytes, [declared, type])).toBeNull();
  });

  test('text of a family, where the bytes are of another', async () => {
    expect(await refused('text/plain', png, ['text/*'])).toBe('image/png');
    expect(await refused('text/plain', png, ['text/*', 'image/*'])).toBeNull();
  });
});
