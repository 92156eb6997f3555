// Parses the head of one part of a form: its name, file name and type (RFC 7578).

export interface PartHead {
  /** Undefined if the part has no form-data disposition or no name. */
  readonly name: string | undefined;
  /** The last segment of the path that was sent; may be empty. */
  readonly filename: string | undefined;
  /** As sent, with parameters. */
  readonly contentType: string;
}

export class MalformedForm extends Error {}

const typeOfParts = 'text/plain';

/** `text` does not include the empty line that ends the head. */
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

/** Of repeated headers, the first counts. */
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

/** Joins folded header lines. */
const unfolded = (text: string): string => text.replace(/\r\n(?=[ \t])/g, '');

const noParameters: ReadonlyMap<string, string> = new Map();

/** The parameters of a header: names in lower case, values decoded. */
export function parseParameters(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of header.matchAll(parameterPattern)) {
    const value = quoted === undefined ? plain.trim() : unescaped(quoted);
    const meant = name.endsWith('*') ? decodeExtended(value) : value;
    if (meant !== null) parameters.set(name.toLowerCase(), meant);
  }
  return parameters;
}

/** Browsers do not escape backslashes, so a quote behind one ends the value if a semicolon or the end follows. */
const parameterPattern = /;\s*([^\s=;]+)\s*=\s*(?:"((?:\\"(?!\s*(?:;|$))|[^"])*)"|([^;]*))/g;

/**
 * Some clients escape quotes and backslashes with a backslash; any other backslash belongs to a path. Browsers and curl
 * percent-encode only quotes and line breaks (WHATWG rules for forms).
 */
const unescaped = (quoted: string): string =>
  quoted
    .replace(/\\(["\\])/g, '$1')
    .replace(/%(22|0D|0A)/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** RFC 8187, as in `UTF-8''na%C3%AFve.txt`; null if it is malformed. */
function decodeExtended(value: string): string | null {
  const [, charset, encoded] = /^([^']*)'[^']*'(.*)$/.exec(value) ?? [];
  if (charset === undefined || encoded === undefined) return null;
  const bytes = encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decodeText(Buffer.from(bytes, 'latin1'), charset);
}

/** Null for an unknown charset. */
export function decodeText(bytes: Buffer, charset: string): string | null {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return null;
  }
}

/** A trailing backslash is part of the name, not a separator. */
function lastPiece(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.slice(0, -1).lastIndexOf('\\')) + 1);
  return name === '.' || name === '..' ? '' : name;
}
