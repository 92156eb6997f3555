// The head of one part of a form: how the part is called, and of what type it says it is (RFC 7578).

export interface PartHead {
  /** Absent where the part is not one of a form, or was given no name. */
  readonly name: string | undefined;
  /** The last piece of a path; empty where nothing is left of it. */
  readonly filename: string | undefined;
  /** With its parameters, as it was sent. */
  readonly contentType: string;
}

export class MalformedForm extends Error {}

const typeOfParts = 'text/plain';

/** `text` is without the empty line that ends a head. */
export function parsePartHead(text: string): PartHead {
  const { disposition, contentType } = headersIn(text);
  const parameters = /^form-data\s*(;|$)/i.test(disposition) ? parseParameters(disposition) : noParameters;
  const filename = parameters.get('filename*') ?? parameters.get('filename');
  return {
    name: parameters.get('name'),
    filename: filename === undefined ? undefined : lastPiece(filename),
    contentType: contentType || typeOfParts,
  };
}

/** The first of each, should one be repeated. */
function headersIn(text: string): { disposition: string; contentType: string } {
  let disposition: string | undefined;
  let contentType: string | undefined;
  for (const line of unfolded(text).split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 1 || /[\r\n]/.test(line))
      throw new MalformedForm('the head of a part has a line that is no header');
    const name = line.slice(0, colon).toLowerCase();
    if (name === 'content-disposition') disposition ??= line.slice(colon + 1).trim();
    else if (name === 'content-type') contentType ??= line.slice(colon + 1).trim();
  }
  return { disposition: disposition ?? '', contentType: contentType ?? '' };
}

/** A line that begins with a space goes on where the one before it ended. */
const unfolded = (text: string): string => text.replace(/\r\n(?=[ \t])/g, '');

const noParameters: ReadonlyMap<string, string> = new Map();

/** What follows the first semicolon of a header; names in lower case, values as they are meant. */
export function parseParameters(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of header.matchAll(parameterPattern)) {
    const value = quoted === undefined ? plain.trim() : unescaped(quoted);
    const meant = name.endsWith('*') ? decodeExtended(value) : value;
    if (meant !== null) parameters.set(name.toLowerCase(), meant);
  }
  return parameters;
}

/** Browsers escape no backslash: a quote behind one still ends the value where the header or a parameter ends with it. */
const parameterPattern = /;\s*([^\s=;]+)\s*=\s*(?:"((?:\\"(?!\s*(?:;|$))|[^"])*)"|([^;]*))/g;

/**
 * Some clients escape quotes and backslashes by a backslash; any other backslash is one of a path. Browsers and curl
 * write quotes and line breaks, and nothing else, in percent (the WHATWG's rule for forms).
 */
const unescaped = (quoted: string): string =>
  quoted
    .replace(/\\(["\\])/g, '$1')
    .replace(/%(22|0D|0A)/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** RFC 8187, as in `UTF-8''na%C3%AFve.txt`; null where it cannot be read. */
function decodeExtended(value: string): string | null {
  const [, charset, encoded] = /^([^']*)'[^']*'(.*)$/.exec(value) ?? [];
  if (charset === undefined || encoded === undefined) return null;
  const bytes = encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decodeText(Buffer.from(bytes, 'latin1'), charset);
}

/** In the named charset; null where there is no such one. */
export function decodeText(bytes: Buffer, charset: string): string | null {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return null;
  }
}

/** A backslash at the very end belongs to the name: it separates nothing. */
function lastPiece(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.slice(0, -1).lastIndexOf('\\')) + 1);
  return name === '.' || name === '..' ? '' : name;
}
