// Media types: parsing, matching against a plan's list, and which ones a browser may display inline.
import { encodeRfc3986 } from '../text/percent.ts';

/** With the maximum lengths of RFC 6838. */
const typePattern = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

export const unknownMediaType = 'application/octet-stream';

/** The type in lower case without parameters; application/octet-stream if it is malformed. */
export function parseMediaType(given: string): string {
  const type = withoutParameters(given);
  return typePattern.test(type) ? type : unknownMediaType;
}

const withoutParameters = (given: string): string => (given.split(';', 1)[0] ?? '').trim().toLowerCase();

/** The same for a filter, which may also be a family such as image/*. */
export function parseTypeFilter(given: string): string {
  const type = withoutParameters(given);
  return type.endsWith('/*') ? type : parseMediaType(type);
}

/** An empty list allows everything; `image/*` allows a family. */
export function isAllowedType(type: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  const family = `${type.split('/', 1)[0]}/*`;
  return allowed.some((entry) => entry === type || entry === family || entry === '*/*');
}

const inertTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'text/plain',
  'application/json',
]);

/** Whether a browser may display it inline. False for everything that could run a script. */
export const isInert = (type: string): boolean =>
  inertTypes.has(type) || (/^(audio|video)\/[\w.+-]+$/.test(type) && !type.endsWith('+xml'));

export type Disposition = 'inline' | 'attachment';

/**
 * The Content-Disposition of a download: as wished, except that what could run a script is never displayed. A name with
 * special characters is sent twice: in ASCII for old clients, and in full for all others.
 */
export function contentDisposition(name: string, type: string, wish: Disposition = 'inline'): string {
  const how = isInert(type) ? wish : 'attachment';
  if (/^[\w.-]*$/.test(name)) return `${how}; filename="${name}"`;
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  return `${how}; filename="${ascii}"; filename*=UTF-8''${encodeRfc3986(name)}`;
}
