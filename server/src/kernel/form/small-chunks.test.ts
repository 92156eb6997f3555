import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SmallChunks } from './small-chunks.ts';

test('any chunks come out complete and in order, and never as many small ones', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 200 }), (sizes) => {
      const given = sizes.map((size, nth) => Buffer.alloc(size, nth));
      const handedOn: Buffer[] = [];
      const chunks = new SmallChunks((chunk) => void handedOn.push(chunk));
      for (const chunk of given) chunks.write(chunk);
      chunks.flush();
      expect(Buffer.concat(handedOn).equals(Buffer.concat(given))).toBe(true);
      const small = handedOn.filter(({ length }) => length < 1024).length;
      expect(small).toBeLessThanOrEqual(given.filter(({ length }) => length >= 1024).length + 1);
    }),
  );
});

test('a large chunk is passed on unchanged', () => {
  const large = Buffer.alloc(5000);
  const handedOn: Buffer[] = [];
  new SmallChunks((chunk) => void handedOn.push(chunk)).write(large);
  expect(handedOn[0]).toBe(large);
});

test('a chunk that was passed on is not written to again', () => {
  const handedOn: Buffer[] = [];
  const chunks = new SmallChunks((chunk) => void handedOn.push(chunk));
  chunks.write(Buffer.from('first'));
  chunks.flush();
  chunks.write(Buffer.from('other'));
  chunks.flush();
  expect(handedOn.map(String)).toEqual(['first', 'other']);
});
