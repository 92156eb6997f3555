// JSON from callers. Parsing blocks the event loop, so one cheap pass over the text first refuses what is expensive.

/** No request needs more values. A million distinct names take 100 ms to parse. */
export const jsonValuesMax = 10_000;
/** Deeper values overflow the stack when they are written. */
const depthMax = 64;

/**
 * Throws a SyntaxError for invalid JSON, too many values or levels, numbers beyond the range of a double, and the name
 * `__proto__`, which could later become a prototype.
 */
export function parseForeignJson(text: string): unknown {
  refuseSprawl(text);
  const value: unknown = JSON.parse(text);
  refusePoison(value);
  return value;
}

/** Counts values and levels without building them; malformed text is left to the parser. */
function refuseSprawl(text: string): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === quote) at = endOfString(text, at);
    else if (char === comma) values += 1;
    else if (char === openBracket || char === openBrace) {
      values += 1;
      depth += 1;
      if (depth > depthMax) throw new SyntaxError(`it is nested deeper than ${depthMax} levels`);
    } else if (char === closeBracket || char === closeBrace) depth -= 1;
    if (values > jsonValuesMax) throw new SyntaxError(`it has more than ${jsonValuesMax} values`);
  }
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    if (char === quote) break;
    at += char === backslash ? 2 : 1;
  }
  return at;
}

/** Cheap, since `refuseSprawl` has bounded the number of values. */
function refusePoison(value: unknown): void {
  // Infinity would be written as null.
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new SyntaxError('a number is too large: the largest is about 1.8e308');
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) for (const item of value) refusePoison(item);
  else
    for (const [name, inner] of Object.entries(value)) {
      if (name === '__proto__') throw new SyntaxError('the name __proto__ is not allowed');
      refusePoison(inner);
    }
}

/** A JSON string. Fast path: most text needs no escaping, and the test is much cheaper than JSON.stringify. */
export const quoted = (text: string): string =>
  /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
