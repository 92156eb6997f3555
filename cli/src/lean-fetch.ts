// Requests with bytes as their body go over node:http. For a small upload, fetch takes more CPU time than reading,
// hashing and describing the file together. Everything else is left to fetch.
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

export function createLeanFetch(): typeof fetch {
  const plain = new HttpAgent({ keepAlive: true });
  const secure = new HttpsAgent({ keepAlive: true });
  return (input, init) => {
    const { body } = init ?? {};
    if (!(body instanceof Uint8Array) || typeof input !== 'string') return fetch(input, init);
    return send(input, init ?? {}, body, input.startsWith('https:') ? secure : plain);
  };
}

const send = (url: string, init: RequestInit, body: Uint8Array, agent: HttpAgent): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = (agent instanceof HttpsAgent ? requestHttps : requestHttp)(url, {
      method: init.method ?? 'POST',
      headers: { ...(init.headers as Record<string, string>), 'content-length': body.byteLength },
      agent,
      ...(init.signal && { signal: init.signal }),
    });
    request.on('error', reject);
    request.on('response', (message) => {
      readText(message).then((text) => resolve(toResponse(message, text)), reject);
    });
    request.end(body);
  });

async function readText(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** As much of a Response as the client uses. A real one costs as much as the request. */
const toResponse = ({ statusCode = 0, rawHeaders }: IncomingMessage, text: string): Response =>
  ({
    status: statusCode,
    get headers() {
      const headers = new Headers();
      for (let i = 0; i + 1 < rawHeaders.length; i += 2)
        headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
      return headers;
    },
    text: async () => text,
  }) as Response;
