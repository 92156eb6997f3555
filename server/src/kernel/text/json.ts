// JSON from outside. Parsing runs on the event loop, which every caller shares, so what is dear to parse or to walk
// through is refused first, by one cheap pass over the text.

/** More values than any request of the API has a use for. A million distinct names would take 100 ms to parse. */
export const jsonValuesMax = 10_000;
/** Deeper values overflow the stack when they are written again. */
const depthMax = 64;

/**
 * Throws a SyntaxError for what is not JSON, for JSON that is too deep or has too many values, for the name `__proto__`,
 * which would turn into a prototype somewhere down the road, and for numbers beyond the range of a double.
 */
export function parseForeignJson(text: string): unknown {
  refuseSprawl(text);
  const value: unknown = JSON.parse(text);
  refusePoison(value);
  return value;
}

/** Counts values and levels without building any; malformed text is left for the parser to complain about. */
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

/** Where the string that begins at `start` has its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    if (char === quote) break;
    at += char === backslash ? 2 : 1;
  }
  return at;
}

/** Cheap, since `refuseSprawl` has bounded what there is to walk through. */
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

/** Text as JSON. What needs no escaping, as most does not, is told by a look that is far cheaper than the work. */
export const quoted = (text: string): string =>
  /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
