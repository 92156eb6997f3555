// Our form parser compared with @fastify/busboy, on typical upload forms. See docs/adr/0006-form-parser.md.
import { once } from 'node:events';
import { Busboy } from '@fastify/busboy';
import { FormParser } from '../../dist/kernel/form/form-parser.js';
import { formHeaders, formOf } from '../support/forms.mjs';
import { compare } from './support.mjs';

const chunkBytes = 64 * 1024;
const boundary = /boundary=(.*)$/.exec(formHeaders['content-type'])[1];

const chunksOf = (form) =>
  Array.from({ length: Math.ceil(form.length / chunkBytes) }, (_, at) =>
    form.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  );

function parseWithOurs(chunks) {
  let bytes = 0;
  const count = (piece) => {
    bytes += piece.length;
  };
  const sink = { write: count, end: () => undefined };
  const parser = new FormParser(boundary, () => sink);
  for (const chunk of chunks) parser.write(chunk);
  parser.end();
  return bytes;
}

async function parseWithBusboy(chunks) {
  let bytes = 0;
  const count = (piece) => {
    bytes += piece.length;
  };
  const busboy = new Busboy({ headers: formHeaders });
  busboy.on('file', (_name, file) => file.on('data', count));
  for (const chunk of chunks) busboy.write(chunk);
  busboy.end();
  await once(busboy, 'finish');
  return bytes;
}

for (const [title, bytes, count] of [
  ['form with a file of 10 KiB', 10 * 1024, 3_000],
  ['form with a file of 8 MiB', 8 << 20, 20],
]) {
  const chunks = chunksOf(Buffer.from(formOf(bytes)));
  const repeat = (parse) => async (times) => {
    for (let n = 0; n < times; n += 1) await parse(chunks);
  };
  await compare(
    title,
    { ours: repeat(parseWithOurs), '@fastify/busboy': repeat(parseWithBusboy) },
    { count },
  );
}
