// JSON from outside. `__proto__` as a name would turn into a prototype somewhere down the road.

/** Throws a SyntaxError for what is not JSON, and for JSON that poisons. */
export const parseForeignJson = (text: string): unknown => JSON.parse(text, refusePoison);

function refusePoison(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('the name __proto__ is not allowed');
  return value;
}
