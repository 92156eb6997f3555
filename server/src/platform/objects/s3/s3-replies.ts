// Checks that a 2xx reply is what S3 sends for the operation. A proxy may send its maintenance page with a 200, and an
// object that was never stored must not count as stored.
import { isPage, type S3Reply } from './s3-fault.ts';
import { bytesIn, etagIn } from './s3-headers.ts';
import { isDocument, textOf } from './s3-xml.ts';

/** PutObject and UploadPart: an ETag and no body. */
export const isStored = (reply: S3Reply): boolean =>
  etagIn(reply.headers) !== undefined && reply.text.trim() === '';

/** DeleteObject and AbortMultipartUpload: 204, or a bare 200 from some stores. */
export const isDeleted = (reply: S3Reply): boolean =>
  reply.status === 204 || (reply.text.trim() === '' && !isPage(reply.headers));

/** HeadBucket has nothing specific to check. */
export const isBucket = (reply: S3Reply): boolean => !isPage(reply.headers);

/** HeadObject, and GetObject before its body is read. The type is the object's own, and may well be text/html. */
export const isObject = (reply: S3Reply): boolean =>
  etagIn(reply.headers) !== undefined && bytesIn(reply.headers) >= 0;

/** GetObject with a range that begins at `start` and has at most `bytesMax` bytes. */
export const isObjectPart = (reply: S3Reply, start: number, bytesMax: number): boolean =>
  isObject(reply) && bytesIn(reply.headers) <= bytesMax && (reply.status === 206 || start === 0);

export const isCopied = (reply: S3Reply): boolean => isDocument(reply.text, 'CopyObjectResult');

/** Some stores name the result of a copied part like that of a copied object. */
export const isPartCopied = (reply: S3Reply): boolean =>
  (isDocument(reply.text, 'CopyPartResult') || isCopied(reply)) && hasText(reply, 'ETag');

export const isBegun = (reply: S3Reply): boolean =>
  isDocument(reply.text, 'InitiateMultipartUploadResult') && hasText(reply, 'UploadId');

/** Ceph leaves the ETag empty here: the caller looks at the object itself. */
export const isCompleted = (reply: S3Reply): boolean =>
  isDocument(reply.text, 'CompleteMultipartUploadResult');

export const isDeletedMany = (reply: S3Reply): boolean => isDocument(reply.text, 'DeleteResult');

export const isObjectList = (reply: S3Reply): boolean => isDocument(reply.text, 'ListBucketResult');

export const isUploadList = (reply: S3Reply): boolean => isDocument(reply.text, 'ListMultipartUploadsResult');

export const isPartList = (reply: S3Reply): boolean => isDocument(reply.text, 'ListPartsResult');

const hasText = (reply: S3Reply, tag: string): boolean => (textOf(reply.text, tag) ?? '') !== '';
