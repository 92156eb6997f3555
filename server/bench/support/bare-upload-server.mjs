// The baseline for uploads: node:http writes the file of the multipart body to disk with an fsync and nothing else, and
// with a hash unless BARE_HASH=off. The throughput of Pakhus is compared with it.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import busboy from '@fastify/busboy';

const folder = join(process.cwd(), 'bare');
await mkdir(folder, { recursive: true });
const hashing = process.env.BARE_HASH !== 'off';
let uploads = 0;

const server = createServer((request, response) => {
  const parser = new busboy.Busboy({ headers: request.headers });
  parser.on('file', (_field, stream) => {
    const path = join(folder, `${uploads++}`);
    const hash = hashing ? createHash('sha256') : null;
    const file = createWriteStream(`${path}.part`, { highWaterMark: 1 << 20 });
    if (hash) stream.on('data', (chunk) => hash.update(chunk));
    stream.pipe(file).on('finish', async () => {
      const handle = await open(`${path}.part`);
      await handle.sync();
      await handle.close();
      await rename(`${path}.part`, path);
      const body = hash?.digest('hex') ?? 'stored';
      response.writeHead(201, { 'content-length': body.length }).end(body);
    });
  });
  request.pipe(parser);
});
server.listen(0, '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', () => process.exit(0));
