import { describe, expect, test } from 'vitest';
import { detectMediaType } from './media-detect.ts';

const hex = (digits: string, paddingBytes = 0) =>
  Buffer.concat([Buffer.from(digits.replaceAll(' ', ''), 'hex'), Buffer.alloc(paddingBytes)]);
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf8Marked = (text: string) => Buffer.from(`\ufeff${text}`);
const utf16Le = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const utf16Be = (text: string) => utf16Le(text).swap16();

describe('bytes that prove nothing', () => {
  test.each<[string, Buffer | string]>([
    ['nothing at all', ''],
    ['ASCII', 'plain text'],
    ['UTF-16LE', utf16Le('navn;beløb\r\n')],
    ['UTF-16LE that a transport stream might begin with', utf16Le(`aG${'b'.repeat(94)}G${'c'.repeat(400)}`)],
    ['UTF-16BE', utf16Be('navn;beløb\r\n')],
    ['marked UTF-8', utf8Marked('BMW kører på æbler')],
    ['MZ', 'MZ'],
    ['a word that begins with MZ', 'MZ is short for Milizia'],
    ['a word that begins with MZ, in Latin-1', latin1('MZ er en forkortelse på italiensk: ærlig talt')],
    ['MZ in a file that ends as DOS ended them', 'MZ is short for Milizia\r\n\x1a'],
    ['a word that begins with BM, in UTF-8', 'BMW kører på æbler, og det er ikke nogen spøg'],
    ['a word that begins with BM, in Latin-1', latin1('BMW kører på æbler, og det er ikke nogen spøg')],
    ['a line that begins with BM', 'BM: møde kl. 9'],
    ['GIF as a word', 'GIF-billeder på nettet'],
    ['ID3 as a word', 'ID3-mærker på dansk'],
    ['FORM as a word', 'FORMÅL: at prøve'],
    ['solid as a word', 'solid viden om bøger'],
    ['free where a film has a box', 'The free æble'],
    ['a directive of TeX', '%!TEX root = bøger.tex'],
    ['PDF as a word', '%PDF er et format'],
    ['BM without a second header', hex('424d 0102030405060708 00000000 99000000', 64)],
    ['a sync word with a sampling rate that does not exist', hex('fffb9c00', 64)],
    ['a sync word with a bit rate that does not exist', hex('fffbf000', 64)],
    ['AAC without a length', hex('fff15000', 64)],
    ['AC-3 without a sampling rate', hex('0b77 0000 ff00', 64)],
    ['any zlib stream', hex('7801 4bcc4a010002000100', 64)],
    ['a comment before Markdown', '<!-- markdownlint-disable -->\n# T'],
    ['an unknown element', '<note/>'],
  ])('%s', async (_, bytes) => {
    expect(await detectMediaType(Buffer.from(bytes))).toBeNull();
  });
});

describe('bytes that prove a type', () => {
  const script = '<script>alert(1)</script>';
  test.each<[string, Buffer | string, string]>([
    ['HTML', `<!doctype html>${script}`, 'text/html'],
    ['HTML after a comment', `<!-- x -->\n<HTML>${script}`, 'text/html'],
    ['HTML in marked UTF-8', utf8Marked(`<html>${script}`), 'text/html'],
    ['HTML in UTF-16LE', utf16Le(`<html>${script}`), 'text/html'],
    ['HTML in UTF-16BE', utf16Be(`<html>${script}`), 'text/html'],
    ['a paragraph', '<p align="center">hi</p>\n# T', 'text/html'],
    ['XHTML', `<?xml version="1.0"?>\n<!DOCTYPE html><html>${script}</html>`, 'application/xhtml+xml'],
    ['SVG', `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`, 'image/svg+xml'],
    ['SVG after a prolog', `<?xml version="1.0"?><!DOCTYPE svg><svg>${script}</svg>`, 'image/svg+xml'],
    ['XML', '<?xml version="1.0"?><note/>', 'application/xml'],
    ['XML with an element that HTML has too', '<?xml version="1.0"?>\n<p>x</p>', 'application/xml'],
    ['XML in UTF-16LE', utf16Le('<?xml version="1.0"?><note/>'), 'application/xml'],
    ['PDF', '%PDF-1.7\n', 'application/pdf'],
    ['PDF behind a mark', utf8Marked('%PDF-1.7\n'), 'application/pdf'],
    ['RTF', '{\\rtf1\\ansi hello}', 'application/rtf'],
    ['PostScript', '%!PS-Adobe-3.0\n', 'application/postscript'],
    ['a vCard', 'BEGIN:VCARD\r\nVERSION:4.0\r\n', 'text/vcard'],
    [
      'a registry file',
      utf16Le('Windows Registry Editor Version 5.00\r\n\r\n[HKEY]'),
      'application/x-ms-regedit',
    ],
    ['PNG', hex('89504e470d0a1a0a 0000000d49484452 0000000100000001 0806000000 1f15c489', 64), 'image/png'],
    ['JPEG', hex('ffd8ffe0'), 'image/jpeg'],
    ['a bitmap', hex('424d 46000000 00000000 36000000 28000000 02000000 02000000', 40), 'image/bmp'],
    ['a bitmap of OS/2', hex('424d 46000000 00000000 1a000000 0c000000 02000200', 40), 'image/bmp'],
    ['a program', hex('4d5a9000 03000000 04000000 ffff0000', 64), 'application/x-msdownload'],
    ['MP3 behind a tag', hex('494433 0400 00 00000002 0000 fffb9064', 400), 'audio/mpeg'],
    ['MP3 behind a long tag', hex('494433 0300 00 00017f7f', 400), 'audio/mpeg'],
    ['an MP3 frame', hex('fffb9064', 413), 'audio/mpeg'],
    ['AAC', hex('fff15080 2e7ffc', 64), 'audio/aac'],
    ['AC-3', hex('0b77 1234 1440', 64), 'audio/vnd.dolby.dd-raw'],
    ['a transport stream', Buffer.concat([0, 1, 2].map(() => hex('47400010', 184))), 'video/mp2t'],
    ['Opus, by its type alone', oggOf('OpusHead'), 'audio/ogg'],
    ['zip', hex('504b0304 1400 0000 0000', 40), 'application/zip'],
    ['gzip', hex('1f8b0800000000000003', 20), 'application/gzip'],
    ['an old Office document', hex('d0cf11e0a1b11ae1', 504), 'application/x-cfb'],
  ])('%s', async (_, bytes, type) => {
    expect(await detectMediaType(Buffer.from(bytes))).toBe(type);
  });
});

function oggOf(codec: string): Buffer {
  return Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from(codec), Buffer.alloc(40)]);
}
