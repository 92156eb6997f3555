// Conditional requests: lists of ETags.

export const parseEtags = (list: string): string[] => list.split(',').map((tag) => tag.trim());

/** Whether If-Match allows this version. It compares strongly, so a weak ETag in it never matches. */
export const allowsVersion = (ifMatch: string, etag: string): boolean =>
  ifMatch.trim() === '*' || parseEtags(ifMatch).includes(etag);
