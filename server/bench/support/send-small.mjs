// Uploads files of 10 KiB, several at once, with the client or with bare fetch: as many as its parent says, then tells it.
import { randomBytes, randomUUID } from 'node:crypto';
import { createClient } from '../../../client/dist/index.js';

const [way] = process.argv.slice(2);
const { URL: url, KEY: key, USER_ID: userId } = process.env;
const atOnce = 8;
const bytes = new Uint8Array(randomBytes(10 * 1024));
const name = 'bench.bin';
const mimeType = 'application/octet-stream';

const { files } = createClient({ baseUrl: url, key }).user({ id: userId });
const uploads = `${url}/project/users/${userId}/files`;

const upload = {
  client: () => files.upload(bytes, { name, mimeType }),
  async fetch() {
    const body = new FormData();
    body.append('file', new Blob([bytes], { type: mimeType }), name);
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
    const response = await fetch(uploads, { method: 'POST', headers, body });
    if (response.status !== 201) throw new Error(`answered ${response.status}: ${await response.text()}`);
    return (await response.json()).file;
  },
}[way];

process.on('message', async (order) => {
  let left = order.files;
  const work = async () => {
    while (left-- > 0) {
      const { size } = await upload();
      if (size !== bytes.length) throw new Error(`stored ${size} bytes`);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
    process.send(null);
  } catch (error) {
    process.send(String(error));
  }
});
