// The pages for people, from files on this machine only: the interactive reference, and the one that sets a password.
// Whoever asks at the front door is told where things are.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { resetPath } from '../features/accounts/accounts.password.ts';
import { routeNotFound } from './error-reply.ts';
import { resetPage, resetScript, resetStyle } from './reset-page.ts';
import { apiPrefix } from './route-table.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const style = 'text/css; charset=utf-8';

const assets: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': script,
  'swagger-ui.css': style,
};

const page = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Pakhus API reference</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${apiPrefix}/reference/assets/swagger-ui.css">
  <link rel="stylesheet" href="${apiPrefix}/reference/assets/page.css">
</head>
<body>
  <div id="reference"></div>
  <script src="${apiPrefix}/reference/assets/swagger-ui-bundle.js"></script>
  <script src="${apiPrefix}/reference/assets/start.js"></script>
</body>
</html>`;

const startScript = `SwaggerUIBundle({
  url: '${apiPrefix}/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none',
  validatorUrl: null, tryItOutEnabled: true, filter: true,
});`;

/** Authorize before the long introduction: without it nothing on the page can be tried. */
const pageStyle = `.swagger-ui div:has(> .scheme-container) { display: flex; flex-direction: column; }
.swagger-ui .scheme-container { order: -1; margin: 0; padding: 16px 0; }
`;

export const referencePath = `${apiPrefix}/reference`;

const places = {
  reference: referencePath,
  openapi: `${apiPrefix}/openapi.json`,
  health: `${apiPrefix}/health`,
};

/** Where people look first. */
const frontDoors = ['/', apiPrefix, `${apiPrefix}/`, '/docs'];

/** Browsers are sent to the reference; others, which would rather have an address than a page, get a list of them. */
function openFrontDoor({ headers, raw }: FastifyRequest, reply: FastifyReply, version: string): FastifyReply {
  // The router takes the target of `OPTIONS *` for the root.
  if (raw.url === '*') throw routeNotFound(raw.method ?? '', '*');
  reply.header('vary', 'Origin, Accept');
  if (headers.accept?.includes('text/html')) return reply.redirect(referencePath, 302);
  return reply.send({ name: 'Pakhus', version, ...places });
}

export function servePages(instance: FastifyInstance, version: string): void {
  for (const path of frontDoors)
    instance.get(path, async (request, reply) => openFrontDoor(request, reply, version));
  const pages: readonly (readonly [path: string, type: string, body: string])[] = [
    [referencePath, html, page],
    [`${referencePath}/assets/page.css`, style, pageStyle],
    [`${apiPrefix}/docs`, html, page],
    [`${apiPrefix}/reference/assets/start.js`, script, startScript],
    [resetPath, html, resetPage],
    [`${resetPath}/page.js`, script, resetScript],
    [`${resetPath}/page.css`, style, resetStyle],
  ];
  for (const [path, type, body] of pages)
    instance.get(path, async (_request, reply) => send(reply, type, body));
  const require = createRequire(import.meta.url);
  for (const [name, type] of Object.entries(assets)) {
    // Read once: for every answer anew, whoever asks often and reads none would fill the memory with copies.
    let body: Promise<Buffer> | null = null;
    instance.get(`${apiPrefix}/reference/assets/${name}`, async (_request, reply) => {
      body ??= readFile(require.resolve(`swagger-ui-dist/${name}`)).catch((error: unknown) => {
        // Whatever was in the way this time need not be the next.
        body = null;
        throw error;
      });
      return send(reply, type, await body);
    });
  }
}

const send = (reply: FastifyReply, type: string, body: string | Buffer): FastifyReply =>
  reply
    .type(type)
    .headers({
      'content-security-policy': policy,
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    })
    .send(body);
