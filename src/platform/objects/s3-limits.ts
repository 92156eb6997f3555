// What S3 itself allows, for whoever has to stay within it.

/** All parts but the last are of this size. */
export const partBytesUsual = 8 << 20;
export const partsMax = 10_000;
/** Of a body whose size is not known when it is begun. */
export const uploadBytesMax = partsMax * partBytesUsual;
export const presignSecondsMax = 7 * 86_400;
