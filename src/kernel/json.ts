// JSON from outside. `__proto__` as a name would turn into a prototype somewhere down the road.

/** Throws a SyntaxError for what is not JSON, and for JSON that poisons. */
export function parseForeignJson(text: string): unknown {
  try {
    return JSON.parse(text, refusePoison);
  } catch (error) {
    // Reading it goes as deep as it is nested.
    throw error instanceof RangeError ? new SyntaxError('it is nested too deeply') : error;
  }
}

function refusePoison(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('the name __proto__ is not allowed');
  // Infinity, which would be written as null.
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new SyntaxError('a number is too large: the largest is about 1.8e308');
  return value;
}

/** Text as JSON. What needs no escaping, as most does not, is told by a look that is far cheaper than the work. */
export const quoted = (text: string): string =>
  /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
