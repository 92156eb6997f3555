// Every form is also cut into pieces of every size, since that is how it arrives; Node's own parser is the second
// opinion on what a form means.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FormParser, headBytesMax, headsBytesMax } from './form-parser.ts';
import { MalformedForm, type PartHead } from './part-head.ts';

const boundary = '--x-form';

interface Read extends PartHead {
  readonly bytes: Buffer;
}

/** Reads a form that arrives in the given pieces. */
function read(pieces: readonly Buffer[]): Read[] {
  const parts: (PartHead & { pieces: Buffer[]; ended: boolean })[] = [];
  const parser = new FormParser(boundary, (head) => {
    const part = { ...head, pieces: [] as Buffer[], ended: false };
    parts.push(part);
    return {
      write: (bytes) => void part.pieces.push(bytes),
      end: () => {
        part.ended = true;
      },
    };
  });
  for (const piece of pieces) parser.write(piece);
  parser.end();
  expect(parts.every(({ ended }) => ended)).toBe(true);
  return parts.map(({ pieces: of, ended: _, ...head }) => ({ ...head, bytes: Buffer.concat(of) }));
}

function cut(form: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < form.length; at += size) pieces.push(form.subarray(at, at + size));
  return pieces;
}

/** What every way to cut it gives, which must be one and the same. */
function readEachWay(form: Buffer): Read[] {
  const whole = read([form]);
  for (const size of [1, 2, 3, 5, 7, 11, 13, 64]) expect(read(cut(form, size))).toEqual(whole);
  return whole;
}

const part = (head: string, bytes: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);

const field = (name: string, bytes: Buffer | string) =>
  part(`Content-Disposition: form-data; name="${name}"`, bytes);

const closing = Buffer.from(`--${boundary}--\r\n`);

const form = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, closing]);

describe('parts of a form', () => {
  test('parts come in order, including empty ones, with any bytes', () => {
    const awkward = [
      '',
      '\r\n',
      '\r',
      `\r\n--${boundary.slice(0, -1)}`,
      `-${boundary}\r\n`,
      '\r\n\r\n--',
      '\0\xff',
    ];
    const read = readEachWay(form(...awkward.map((text, nth) => field(`f${nth}`, text))));
    expect(read.map(({ name }) => name)).toEqual(awkward.map((_, nth) => `f${nth}`));
    expect(read.map(({ bytes }) => bytes.toString())).toEqual(
      awkward.map((text) => Buffer.from(text).toString()),
    );
  });

  test('bytes before the first and after the last boundary are ignored', () => {
    const read = readEachWay(
      Buffer.concat([Buffer.from('preamble\r\n'), form(field('a', '1')), field('b', '2')]),
    );
    expect(read.map(({ name }) => name)).toEqual(['a']);
  });

  test('a boundary may be followed by spaces, and the last needs no line end', () => {
    const padded = `--${boundary} \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--${boundary}--`;
    expect(readEachWay(Buffer.from(padded))).toMatchObject([{ name: 'a', bytes: Buffer.from('1') }]);
  });

  test('the empty line after a head may belong to the boundary', () => {
    const head = 'Content-Disposition: form-data; name="a"';
    const read = readEachWay(Buffer.from(`--${boundary}\r\n${head}\r\n\r\n--${boundary}--`));
    expect(read).toMatchObject([{ name: 'a', bytes: Buffer.alloc(0) }]);
  });

  test('bytes are passed on without a copy', () => {
    const whole = form(field('a', 'x'.repeat(1000)));
    const [piece] = read([whole]);
    expect(piece?.bytes.equals(Buffer.from('x'.repeat(1000)))).toBe(true);
    const held: Buffer[] = [];
    new FormParser(boundary, () => ({ write: (bytes) => void held.push(bytes), end: () => undefined })).write(
      whole,
    );
    expect(held[0]?.buffer).toBe(whole.buffer);
  });

  test('any parts, in any chunks, are parsed as Node parses them', async () => {
    const names = fc.string({ unit: fc.constantFrom(...'ab"\\ é漢;=\''), minLength: 1, maxLength: 8 });
    // Of the characters that boundaries and line breaks are made of, so that near misses are common.
    const bytes = fc.string({ unit: fc.constantFrom(...'\r\n-xform\0'), maxLength: 40 });
    const parts = fc.array(fc.record({ name: names, filename: fc.option(names), bytes }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(parts, fc.array(fc.integer({ min: 1, max: 30 })), async (given, sizes) => {
        // Node writes and reads quotes as browsers do, in percent; other parsers unescape backslashes.
        const sent = given.filter((one) => !/["\\]|%(22|0[ad])/i.test(one.name + (one.filename ?? '')));
        fc.pre(sent.every((one) => !one.bytes.includes(`--${boundary}`)));
        const whole = form(
          ...sent.map(({ name, filename, bytes: of }) =>
            part(
              `Content-Disposition: form-data; name="${name}"${filename === null ? '' : `; filename="${filename}"`}`,
              of,
            ),
          ),
        );
        const pieces: Buffer[] = [];
        let at = 0;
        for (const size of sizes) {
          pieces.push(whole.subarray(at, at + size));
          at += size;
        }
        pieces.push(whole.subarray(at));
        const ours = read(pieces.filter(({ length }) => length > 0));
        const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
        const theirs =
          sent.length === 0 ? [] : [...(await new Response(whole, { headers }).formData()).entries()];
        expect(ours.map(({ name, filename }) => [name, filename])).toEqual(
          theirs.map(([name, value]) => [name, typeof value === 'string' ? undefined : value.name]),
        );
        const bodies = await Promise.all(
          theirs.map(async ([, value]) =>
            typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString(),
          ),
        );
        expect(ours.map((one) => one.bytes.toString())).toEqual(bodies);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the head of a part', () => {
  const headed = (head: string) => readEachWay(form(part(head, 'x')))[0] as Read;

  test.each([
    ['form-data; name="a"; filename="b.txt"', 'a', 'b.txt'],
    ['Form-Data;NAME=a;FileName=b.txt', 'a', 'b.txt'],
    ['form-data; filename="b;c=d.txt"; name="a"', 'a', 'b;c=d.txt'],
    ['form-data; name="a"; filename="é 漢.txt"', 'a', 'é 漢.txt'],
    ['form-data; name="a"; filename="say \\"hi\\".txt"', 'a', 'say "hi".txt'],
    ['form-data; name="a"; filename="C:\\temp\\b.txt"', 'a', 'b.txt'],
    ['form-data; name="a"; filename="b\\"', 'a', 'b\\'],
    ['form-data; filename="b\\" ; name="a"', 'a', 'b\\'],
    ['form-data; name="a"; filename="C:\\temp\\b\\"', 'a', 'b\\'],
    ['form-data; name="a"; filename="b\\\\"', 'a', 'b\\'],
    ['form-data; name="a"; filename="say %22hi%22 %41%0d%0A.txt"', 'a', 'say "hi" %41\r\n.txt'],
    ['form-data; name="a"; filename="../../b.txt"', 'a', 'b.txt'],
    ['form-data; name="a"; filename=".."', 'a', ''],
    ['form-data; name="a"; filename=""', 'a', ''],
    ["form-data; name=a; filename=old.txt; filename*=UTF-8''na%C3%AFve.txt", 'a', 'naïve.txt'],
    ["form-data; name=a; filename*=utf-8'en'na%C3%AFve.txt; filename=old.txt", 'a', 'naïve.txt'],
    ["form-data; name=a; filename*=ISO-8859-1''na%EFve.txt", 'a', 'naïve.txt'],
    ["form-data; name=a; filename=old.txt; filename*=no-such-charset''x", 'a', 'old.txt'],
    ['form-data; name=a; filename=old.txt; filename*=nonsense', 'a', 'old.txt'],
    ['form-data', undefined, undefined],
    ['form-data; filename="b.txt"', undefined, 'b.txt'],
    ['attachment; name="a"; filename="b.txt"', undefined, undefined],
    ['form-datax; name="a"', undefined, undefined],
  ])('%s', (disposition, name, filename) => {
    expect(headed(`Content-Disposition: ${disposition}`)).toMatchObject({ name, filename });
  });

  test('header names in any case, folded lines, the first of repeated headers, and text/plain as the default type', () => {
    const folded =
      'CONTENT-disposition: form-data;\r\n name="a";\r\n\tfilename="b"\r\nContent-Type: image/png; q="1"';
    expect(headed(folded)).toMatchObject({ name: 'a', filename: 'b', contentType: 'image/png; q="1"' });
    const twice = 'Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b';
    expect(headed(twice)).toMatchObject({ name: 'a', contentType: 'text/plain' });
  });

  test('a head of the largest size is read, and one byte more is refused', () => {
    const head = 'Content-Disposition: form-data; name="a"\r\nX: ';
    const filled = head.padEnd(headBytesMax, 'x');
    expect(read([form(part(filled, ''))])).toMatchObject([{ name: 'a' }]);
    expect(() => read([form(part(`${filled}x`, ''))])).toThrow(/head of a part is longer/);
    expect(() => read(cut(form(part(`${filled}x`, '')), 1000))).toThrow(/head of a part is longer/);
  });

  test('the heads of all parts are bounded together', () => {
    const tall = () => part('Content-Disposition: form-data; name="a"; x='.padEnd(headBytesMax, 'x'), 'v');
    const fitting = Array.from({ length: headsBytesMax / headBytesMax }, tall);
    expect(read([form(...fitting)])).toHaveLength(4);
    expect(() => read([form(...fitting, field('b', 'v'))])).toThrow(MalformedForm);
  });

  test('endless quotes and semicolons make one part, with the name before them or none', () => {
    for (const unit of [';x="', ';x="\\', '"', ';', '; =', "';x*=''"]) {
      const filler = unit.repeat(16_000 / unit.length);
      for (const [given, name] of [
        ['', undefined],
        ['; name="a"', 'a'],
      ]) {
        const parts = read([form(part(`Content-Disposition: form-data${given}${filler}`, 'x'))]);
        const meant = { name, filename: undefined, contentType: 'text/plain', bytes: Buffer.from('x') };
        expect(parts, unit).toEqual([meant]);
      }
    }
  });
});

describe('malformed forms', () => {
  test.each([
    ['nothing', ''],
    ['no boundary', 'abc'],
    ['an end in the middle of a part', field('a', '1').toString()],
    ['an end in the last boundary', form(field('a', '1')).subarray(0, -4).toString()],
    ['an end in a head', `--${boundary}\r\nContent-Disposition: form-data`],
    ['a part without a head', `--${boundary}\r\n\r\n1\r\n--${boundary}--`],
    ['a head without colons', `--${boundary}\r\njunk\r\n\r\n1\r\n--${boundary}--`],
    ['a bare line feed in a head', `--${boundary}\r\nA: b\nC: d\r\n\r\n1\r\n--${boundary}--`],
    ['characters behind a boundary', `--${boundary}x\r\nA: b\r\n\r\n1\r\n--${boundary}--`],
    [
      'spaces without end behind a boundary',
      `--${boundary}${' '.repeat(300)}\r\nA: b\r\n\r\n1\r\n--${boundary}--`,
    ],
  ])('%s is refused, however it arrives', (_what, text) => {
    const bytes = Buffer.from(text);
    for (const size of [1, 2, 3, 7, 1000]) expect(() => read(cut(bytes, size))).toThrow(MalformedForm);
  });

  test('any bytes are either parsed or refused as malformed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...`\r\n-: ;="${boundary}a`), maxLength: 200 }),
        (text) => {
          const pieces = cut(Buffer.from(`--${boundary}${text}`), 7);
          try {
            read(pieces);
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedForm);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
