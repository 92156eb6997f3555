import { Type as TypeBox } from 'typebox';
import { describe, expect, test } from 'vitest';
import { Type } from './schema.ts';

type Builders = typeof Type;

const person = (of: Builders) =>
  of.Object(
    {
      name: of.String({ minLength: 1 }),
      age: of.Optional(of.Integer({ minimum: 0 })),
      tall: of.Optional(of.Boolean()),
      scores: of.Array(of.Number(), { maxItems: 3 }),
    },
    { additionalProperties: false },
  );

describe('a schema equals the one that TypeBox builds', () => {
  test.each<[string, (of: Builders) => object]>([
    ['an object', person],
    ['an object without required properties', (of) => of.Object({ a: of.Optional(of.String()) })],
    ['an empty object', (of) => of.Object({})],
    ['a partial object', (of) => of.Partial(person(of), { description: 'A change.' })],
    ['a partial object inside another', (of) => of.Object({ a: of.Partial(person(of)) })],
    ['a literal', (of) => of.Literal('bytes', { description: 'A unit.' })],
    ['a literal that is no text', (of) => of.Literal(true)],
    ['a union', (of) => of.Union([of.String(), of.Integer()], { examples: [1] })],
    ['a schema of its own', (of) => of.Object({ a: of.Unsafe({ type: ['string', 'null'] }) })],
    ['an optional array', (of) => of.Object({ a: of.Optional(of.Array(of.String())) })],
  ])('%s', (_name, build) => {
    expect(JSON.stringify(build(Type))).toBe(JSON.stringify(build(TypeBox)));
  });

  test('that is optional in one object stays required in another', () => {
    const name = Type.String();
    expect(Type.Object({ name: Type.Optional(name) })).not.toHaveProperty('required');
    expect(Type.Object({ name })).toHaveProperty('required', ['name']);
  });
});
