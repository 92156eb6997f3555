// A back end that keeps the key, gives pages a token or an upload URL for their user, and serves a folder with a page.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createClient, PakhusError } from '@pakhus/client';

const { PAKHUS_URL, PAKHUS_KEY, PORT = '8080' } = process.env;
const page = process.argv[2] ?? fileURLToPath(new URL('page', import.meta.url));
const clientFolder = dirname(fileURLToPath(import.meta.resolve('@pakhus/client')));
const client = createClient({ baseUrl: PAKHUS_URL, key: PAKHUS_KEY });

/** Ask your own session here. Never take the user's id from the request. */
const findUser = (_request) => client.user('anna');

const routes = {
  /** For pages that use the client. */
  'POST /session': async (request) => {
    const { token } = await findUser(request).tokens.mint({ scopes: ['files:read', 'files:write'] });
    return { baseUrl: PAKHUS_URL, token };
  },
  /** For pages that use another tus client: room for one file, and the URL that takes its bytes. */
  'POST /uploads': async (request) => {
    if (!(Number(request.headers['content-length']) <= 10_000))
      throw new PageError(413, 'The request is too long');
    const { name, size, mimeType } = await json(request).catch(() => {
      throw new PageError(400, 'The request is not JSON');
    });
    const { url } = await findUser(request).uploads.create({ name, size, mimeType, folder: 'inbox' });
    return { url };
  },
};

class PageError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' };

const server = createServer(async (request, response) => {
  // A URL has no `..` left in its path, and an encoded slash stays encoded.
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const route = routes[`${request.method} ${pathname}`];
  try {
    if (route) answer(response, 200, await route(request));
    else await serveFile(response, pathname);
  } catch (error) {
    // What the user can change is told to the page; the rest only to the log.
    const isForPage = error instanceof PageError || (error instanceof PakhusError && error.status === 422);
    if (!isForPage) console.error(error);
    answer(response, isForPage ? error.status : 502, {
      error: isForPage ? error.message : 'Please try again later',
    });
  }
});

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function serveFile(response, pathname) {
  const isClient = pathname.startsWith('/client/');
  const path = isClient
    ? join(clientFolder, pathname.slice('/client/'.length))
    : join(page, pathname === '/' ? 'index.html' : pathname);
  const type = types[extname(path)];
  const content = type && (await readFile(path).catch(() => undefined));
  if (!content) throw new PageError(404, 'There is no such page');
  response.writeHead(200, {
    'content-type': type,
    'content-security-policy': `default-src 'self'; connect-src 'self' ${new URL(PAKHUS_URL).origin}`,
    'x-content-type-options': 'nosniff',
  });
  response.end(content);
}

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${server.address().port}`);
});
