// Heads of the only replies that are read without an HTTP library: bytes of a known length. Nothing is repaired here; whatever
// looks different is left to the library.

export interface PlainHead {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The length of the body, never zero. */
  readonly bytes: number;
}

const statusLine = /^HTTP\/1\.1 (200|206)(?: |$)/;
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/;
const wholeNumber = /^[1-9]\d{0,14}$/;

/** Of the text before the empty line. Null if it is anything else. */
export function parsePlainHead(text: string): PlainHead | null {
  const [first = '', ...lines] = text.split('\r\n');
  const status = statusLine.exec(first)?.[1];
  const headers = parseHeaders(lines);
  const length = headers?.['content-length'] ?? '';
  if (status === undefined || headers?.['transfer-encoding'] !== undefined || !wholeNumber.test(length))
    return null;
  return { status: Number(status), headers: headers ?? {}, bytes: Number(length) };
}

function parseHeaders(lines: readonly string[]): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    const known = name.toLowerCase();
    // Of two lengths, nobody knows which is right.
    if (known === 'content-length' && known in headers) return null;
    headers[known] ??= value;
  }
  return headers;
}
