// A cached variant, compared with a plain read of a file of the same size; and the first request, which has it made.
import sharp from 'sharp';
import { median, takeTurns } from './support/load.mjs';
import { call } from './support/tenant.mjs';

export const name = 'variants';

const width = 320;
const firsts = 20;

export async function run({ pakhus, tenant }) {
  const body = { name: 'preview', format: 'webp', width };
  await call(pakhus, 'POST', '/project/variants', { as: tenant.key, body });
  const photo = await makePhoto();
  const fileId = await send(pakhus, tenant, photo);
  const image = await readVariant(pakhus, tenant, fileId);
  const plainId = await send(pakhus, tenant, image);
  const read = (id, query) => ({
    server: pakhus,
    request: {
      path: `/api/v1/project/users/${tenant.userId}/files/${id}/content${query}`,
      headers: { authorization: `Bearer ${tenant.key}` },
    },
  });
  const { plain, variant } = await takeTurns(
    { plain: read(plainId, ''), variant: read(fileId, '?variant=preview') },
    { rounds: 8, seconds: 1, connections: 4 },
  );
  const p50 = (rounds) => median(rounds.map(({ p50Ms }) => p50Ms));
  const first = await firstRequests(pakhus, tenant, photo);
  return [
    { name: 'plain content, p50', figure: p50(plain), unit: 'ms' },
    { name: 'cached variant, p50', figure: p50(variant), unit: 'ms' },
    {
      name: 'cached variant above plain',
      figure: p50(variant) - p50(plain),
      unit: 'ms',
      target: { atMost: 3 },
    },
    { name: `first request, ${photo.length >> 10} KiB jpeg, p50`, figure: median(first), unit: 'ms' },
  ];
}

async function firstRequests(pakhus, tenant, photo) {
  const took = [];
  for (let n = 0; n < firsts; n++) {
    const fileId = await send(pakhus, tenant, photo);
    const startedAt = performance.now();
    await readVariant(pakhus, tenant, fileId);
    took.push(performance.now() - startedAt);
  }
  return took;
}

/** Two megapixels that look like a photo to an encoder. */
const makePhoto = () =>
  sharp({
    create: { width: 1600, height: 1200, channels: 3, noise: { type: 'gaussian', mean: 128, sigma: 20 } },
  })
    .blur(3)
    .jpeg({ quality: 80 })
    .toBuffer();

async function send(pakhus, { key, userId }, bytes) {
  const form = new FormData();
  form.append('file', new Blob([bytes], { type: 'image/jpeg' }), 'photo.jpg');
  const reply = await fetch(`${pakhus.url}/project/users/${userId}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  if (reply.status !== 201) throw new Error(`the upload was answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()).file.id;
}

async function readVariant(pakhus, { key, userId }, fileId) {
  const reply = await fetch(`${pakhus.url}/project/users/${userId}/files/${fileId}/content?variant=preview`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (reply.status !== 200)
    throw new Error(`the variant was answered ${reply.status}: ${await reply.text()}`);
  return Buffer.from(await reply.arrayBuffer());
}
