import { describe, expect, it } from 'vitest';
import type { S3Reply } from './s3-fault.ts';
import {
  isBegun,
  isBucket,
  isCompleted,
  isCopied,
  isDeleted,
  isDeletedMany,
  isObject,
  isObjectList,
  isObjectPart,
  isPartCopied,
  isPartList,
  isStored,
  isUploadList,
} from './s3-replies.ts';

const xml = { 'content-type': 'application/xml' };
const etag = { etag: '"0123"' };
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
const xmlns = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

const reply = (text: string, headers: S3Reply['headers'] = xml, status = 200): S3Reply => ({
  status,
  headers,
  text,
});

const page = reply('<html><h1>Down for maintenance</h1></html>', {
  'content-type': 'text/html',
  'content-length': '42',
});
/** As a web server sends a page that lies in a file. */
const taggedPage = { ...page, headers: { ...page.headers, ...etag } };
const nothing = reply('', {});
const error = reply(`${head}<Error><Code>InternalError</Code></Error>`);

const cases: { check: (reply: S3Reply) => boolean; yes: S3Reply[]; no: S3Reply[] }[] = [
  { check: isStored, yes: [reply('', etag)], no: [taggedPage, reply('', { etag: '' }), reply('', xml)] },
  {
    check: isDeleted,
    yes: [reply('', {}, 204), reply('', xml), reply('', {})],
    no: [reply('', { 'content-type': 'text/html' }), reply('{"ok":true}', {})],
  },
  { check: isBucket, yes: [reply(''), nothing], no: [] },
  {
    check: isObject,
    yes: [reply('', { ...etag, 'content-length': '0', 'content-type': 'text/html' })],
    no: [reply('', etag), reply('', { 'content-length': '5' }), nothing],
  },
  {
    check: isCopied,
    yes: [
      reply(`${head}<CopyObjectResult ${xmlns}><ETag>"1"</ETag></CopyObjectResult>`),
      reply('  \n<CopyObjectResult><Progress>1</Progress><ETag>"1"</ETag></CopyObjectResult>\n'),
    ],
    no: [nothing, reply(`${head}<CopyObjectResult><Progress>1</Progress>`), reply('', etag)],
  },
  {
    check: isPartCopied,
    yes: [reply('<CopyPartResult><ETag>"1"</ETag></CopyPartResult>')],
    no: [nothing, reply('<CopyPartResult><ETag></ETag></CopyPartResult>')],
  },
  {
    check: isBegun,
    yes: [
      reply(`<InitiateMultipartUploadResult ${xmlns}><UploadId>1</UploadId></InitiateMultipartUploadResult>`),
    ],
    no: [nothing, reply('<InitiateMultipartUploadResult/>')],
  },
  {
    check: isCompleted,
    yes: [reply('<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>')],
    no: [nothing],
  },
  { check: isDeletedMany, yes: [reply(`${head}<DeleteResult ${xmlns}/>`)], no: [nothing] },
  {
    check: isObjectList,
    yes: [reply('<ListBucketResult><Name>b</Name></ListBucketResult>')],
    no: [nothing, reply('<ListBucketResults></ListBucketResults>'), reply('<ListBucketResult><Name/>')],
  },
  {
    check: isUploadList,
    yes: [reply('<ListMultipartUploadsResult></ListMultipartUploadsResult>')],
    no: [nothing],
  },
  {
    check: isPartList,
    yes: [reply(`${head}<ListPartsResult ${xmlns}><Key>k</Key></ListPartsResult>`)],
    no: [nothing, reply('<ListPartsResult><Key>k</Key>')],
  },
];

describe('s3-replies', () => {
  it.each(cases)('$check.name knows what S3 says, and believes nothing else', ({ check, yes, no }) => {
    for (const one of yes) expect(check(one), JSON.stringify(one)).toBe(true);
    for (const one of [page, ...no]) expect(check(one), JSON.stringify(one)).toBe(false);
    if (check !== isBucket) expect(check(error)).toBe(false);
  });

  it('isObjectPart takes a whole object for a part only where it is one', () => {
    const whole = reply('', { ...etag, 'content-length': '100' });
    const part = { ...whole, status: 206 };
    expect(isObjectPart(part, 10, 100)).toBe(true);
    expect(isObjectPart(whole, 0, 200)).toBe(true);
    expect(isObjectPart(whole, 10, 200)).toBe(false);
    expect(isObjectPart(whole, 0, 99)).toBe(false);
    expect(isObjectPart(page, 0, 99)).toBe(false);
  });
});
