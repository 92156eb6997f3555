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
  return value;
}
