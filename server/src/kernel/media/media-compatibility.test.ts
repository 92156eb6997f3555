import { describe, expect, test } from 'vitest';
import { mediaTypesConflict } from './media-compatibility.ts';

const openXml = 'application/vnd.openxmlformats-officedocument';

describe('a detected type that agrees with the declared one', () => {
  test.each([
    ['image/png', 'image/png'],
    // Other names of one format.
    ['audio/x-wav', 'audio/wav'],
    ['audio/vnd.wave', 'audio/wav'],
    ['audio/mp3', 'audio/mpeg'],
    ['audio/ac3', 'audio/vnd.dolby.dd-raw'],
    ['audio/x-flac', 'audio/flac'],
    ['image/jpg', 'image/jpeg'],
    ['image/pjpeg', 'image/jpeg'],
    ['image/x-png', 'image/png'],
    ['image/png', 'image/apng'],
    ['image/x-ms-bmp', 'image/bmp'],
    ['image/vnd.microsoft.icon', 'image/x-icon'],
    ['image/x-icon', 'image/x-icon'],
    ['text/rtf', 'application/rtf'],
    ['text/x-vcard', 'text/vcard'],
    ['application/x-gzip', 'application/gzip'],
    ['application/x-zip-compressed', 'application/zip'],
    ['application/vnd.rar', 'application/x-rar-compressed'],
    ['application/x-rar', 'application/x-rar-compressed'],
    ['application/x-bzip2', 'application/x-bzip2'],
    ['application/vnd.microsoft.portable-executable', 'application/x-msdownload'],
    ['application/vnd.sqlite3', 'application/x-sqlite3'],
    ['application/x-font-ttf', 'font/ttf'],
    ['video/x-msvideo', 'video/vnd.avi'],
    ['video/x-ms-wmv', 'video/x-ms-asf'],
    // Families that one signature cannot tell apart.
    ['video/x-matroska', 'video/webm'],
    ['audio/webm', 'video/matroska'],
    ['audio/mp4', 'video/mp4'],
    ['video/mp4', 'audio/x-m4a'],
    ['video/mp4', 'video/quicktime'],
    ['audio/opus', 'audio/ogg'],
    ['video/ogg', 'application/ogg'],
    ['image/heic', 'image/heif'],
    ['image/avif', 'image/heif'],
    // Built on zip.
    [`${openXml}.wordprocessingml.document`, 'application/zip'],
    [`${openXml}.spreadsheetml.sheet`, 'application/zip'],
    [`${openXml}.presentationml.presentation`, 'application/zip'],
    ['application/vnd.ms-excel.sheet.macroenabled.12', 'application/zip'],
    ['application/vnd.oasis.opendocument.text', 'application/zip'],
    ['application/epub+zip', 'application/zip'],
    ['application/java-archive', 'application/zip'],
    ['application/vnd.android.package-archive', 'application/zip'],
    ['application/vnd.android.package-archive', 'application/java-archive'],
    ['application/vnd.google-earth.kmz', 'application/zip'],
    ['application/vnd.apple.pages', 'application/zip'],
    ['model/3mf', 'application/zip'],
    // Built on others.
    ['application/x-tgz', 'application/gzip'],
    ['application/x-gtar', 'application/gzip'],
    ['application/msword', 'application/x-cfb'],
    ['application/vnd.ms-excel', 'application/x-cfb'],
    ['application/vnd.ms-powerpoint', 'application/x-cfb'],
    [`${openXml}.wordprocessingml.document`, 'application/x-cfb'],
    ['image/x-adobe-dng', 'image/tiff'],
    ['text/xml', 'application/xml'],
    ['application/rss+xml', 'application/xml'],
    ['application/vnd.google-earth.kml+xml', 'application/xml'],
    ['image/svg+xml', 'application/xml'],
    ['text/html', 'application/xhtml+xml'],
    ['application/xhtml+xml', 'text/html'],
    ['text/markdown', 'text/html'],
    ['text/x-markdown', 'text/html'],
  ])('%s is not contradicted by %s', (declared, detected) => {
    expect(mediaTypesConflict(declared, detected)).toBe(false);
  });
});

describe('a detected type that conflicts with the declared one', () => {
  test.each([
    ['text/plain', 'text/html'],
    ['text/plain', 'application/xml'],
    ['text/plain', 'image/png'],
    ['text/markdown', 'image/svg+xml'],
    ['text/markdown', 'image/png'],
    ['image/png', 'text/html'],
    ['image/png', 'application/xhtml+xml'],
    ['image/png', 'image/svg+xml'],
    ['image/png', 'image/jpeg'],
    ['image/png', 'application/zip'],
    // More than was said.
    ['application/zip', 'application/java-archive'],
    ['application/x-zip-compressed', `${openXml}.wordprocessingml.document`],
    ['text/xml', 'image/svg+xml'],
    ['application/xml', 'application/xhtml+xml'],
    ['image/png', 'application/x-msdownload'],
    ['image/jpeg', 'application/pdf'],
    ['image/heic', 'video/mp4'],
    ['application/xml', 'text/html'],
    ['application/rss+xml', 'image/svg+xml'],
    ['image/svg+xml', 'application/xhtml+xml'],
    ['application/pdf', 'application/zip'],
    ['application/msword', 'application/zip'],
    ['application/epub+zip', 'application/java-archive'],
    [`${openXml}.spreadsheetml.sheet`, `${openXml}.wordprocessingml.document`],
    ['application/octet-stream', 'application/x-msdownload'],
    ['audio/wav', 'audio/mpeg'],
  ])('%s is contradicted by %s', (declared, detected) => {
    expect(mediaTypesConflict(declared, detected)).toBe(true);
  });
});
