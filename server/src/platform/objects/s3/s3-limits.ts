// Limits of S3 itself.

export const partsMax = 10_000;
/** All parts but the last have at least this many bytes. */
const partBytesMin = 5 << 20;
const partBytesMax = 8 << 20;
export const uploadBytesMax = partsMax * partBytesMax;

/** For a body of at most `bytes`. As small as possible, because a slow client holds the memory of one part. */
export const partBytesFor = (bytes: number): number =>
  bytes <= partsMax * partBytesMin ? partBytesMin : partBytesMax;

/**
 * Of all parts of an object that arrives in several requests. Some stores insist on equal parts. Clients that send parts
 * themselves count on this size for as long as their upload lives.
 */
export const stagedPartBytes = 8 << 20;

export const presignSecondsMax = 7 * 86_400;
