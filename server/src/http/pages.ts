// The HTML pages beside the console: the API reference and the password-reset page, from local files only. `/` says where everything is.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { resetPath } from '../features/accounts/accounts.password.ts';
import { consolePath } from './console.ts';
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

/** Puts the Authorize button above the long introduction. */
const pageStyle = `.swagger-ui div:has(> .scheme-container) { display: flex; flex-direction: column; }
.swagger-ui .scheme-container { order: -1; margin: 0; padding: 16px 0; }
`;

export const referencePath = `${apiPrefix}/reference`;

const links = {
  reference: referencePath,
  openapi: `${apiPrefix}/openapi.json`,
  health: `${apiPrefix}/health`,
  guides: '/llms.txt',
};

/** Paths that people try first. */
const entryPaths = ['/', apiPrefix, `${apiPrefix}/`, '/docs'];

interface Front {
  readonly hasConsole: boolean;
  /** Of PUBLIC_URL: redirects must stay below it. */
  readonly publicPath: string;
}

/** Redirects browsers to the console, or else to the reference; other clients get the links as JSON. */
function answerEntry(
  { headers, raw }: FastifyRequest,
  reply: FastifyReply,
  version: string,
  front: Front,
): FastifyReply {
  // The router maps the target of `OPTIONS *` to the root.
  if (raw.url === '*') throw routeNotFound(raw.method ?? '', '*');
  reply.header('vary', 'Origin, Accept');
  if (headers.accept?.includes('text/html'))
    return reply.redirect(front.publicPath + (front.hasConsole ? consolePath : referencePath), 302);
  return reply.send({
    name: 'Pakhus',
    version,
    ...(front.hasConsole ? { console: consolePath } : {}),
    ...links,
  });
}

export function servePages(instance: FastifyInstance, version: string, front: Front): void {
  for (const path of entryPaths)
    instance.get(path, async (request, reply) => answerEntry(request, reply, version, front));
  const pages: readonly (readonly [path: string, type: string, body: string])[] = [
    [referencePath, html, page],
    [`${referencePath}/assets/page.css`, style, pageStyle],
    [`${apiPrefix}/docs`, html, page],
    [`${apiPrefix}/reference/assets/start.js`, script, startScript],
    // The console has a screen for it.
    ...(front.hasConsole ? [] : [[resetPath, html, resetPage] as const]),
    [`${resetPath}/page.js`, script, resetScript],
    [`${resetPath}/page.css`, style, resetStyle],
  ];
  for (const [path, type, body] of pages)
    instance.get(path, async (_request, reply) => send(reply, type, body));
  const require = createRequire(import.meta.url);
  for (const [name, type] of Object.entries(assets)) {
    // Cached: otherwise clients that request it often and read slowly would fill the memory with copies.
    let body: Promise<Buffer> | null = null;
    instance.get(`${apiPrefix}/reference/assets/${name}`, async (_request, reply) => {
      body ??= readFile(require.resolve(`swagger-ui-dist/${name}`)).catch((error: unknown) => {
        // The next request tries again.
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
