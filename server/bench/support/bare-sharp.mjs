// The baseline: sharp alone, one image per core at a time. Prints the milliseconds that `count` images took.
import { availableParallelism } from 'node:os';
import sharp from 'sharp';

const [input, count] = [process.argv[2], Number(process.argv[3])];
sharp.concurrency(1);
sharp.cache(false);
let left = count;
const startedAt = performance.now();
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    while (left-- > 0) await sharp(input, { failOn: 'error' }).autoOrient().webp({ quality: 80 }).toBuffer();
  }),
);
console.log(Math.round(performance.now() - startedAt));
