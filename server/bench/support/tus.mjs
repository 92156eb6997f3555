// As much of a tus client as the benches need.
import { request } from 'node:http';

const tus = { 'tus-resumable': '1.0.0' };
const chunkHeaders = (at) => ({
  ...tus,
  'upload-offset': String(at),
  'content-type': 'application/offset+octet-stream',
});

/** Resolves to the URL of the new upload. */
export async function createUpload(server, userId, bytes) {
  const headers = {
    ...tus,
    authorization: `Bearer ${server.tenant.key}`,
    'upload-length': String(bytes),
  };
  const url = `${server.url}/project/users/${userId}/uploads`;
  const response = await expecting(201, await fetch(url, { method: 'POST', headers }));
  return response.headers.get('location');
}

export const sendChunk = async (url, at, body) =>
  expecting(204, await fetch(url, { method: 'PATCH', headers: chunkHeaders(at), body }));

export const cancelUpload = async (url) =>
  expecting(204, await fetch(url, { method: 'DELETE', headers: tus }));

/** A chunk of `bytes` that arrives slowly and never ends. Resolves once `stop` has closed its connection. */
export function sendSlowly(url, bytes, piece, everyMs) {
  const outgoing = request(url, {
    method: 'PATCH',
    agent: false,
    headers: { ...chunkHeaders(0), 'content-length': bytes },
  });
  outgoing.on('error', () => undefined);
  outgoing.on('response', (response) => response.resume());
  const timer = setInterval(() => outgoing.write(piece), everyMs);
  return {
    stop: () =>
      new Promise((resolve) => {
        clearInterval(timer);
        outgoing.once('close', resolve).destroy();
      }),
  };
}

async function expecting(status, response) {
  if (response.status !== status)
    throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  return response;
}
