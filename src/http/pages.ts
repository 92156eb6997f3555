// The pages for people, from files on this machine only: the interactive reference, and the one that sets a password.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { resetPath } from '../features/accounts/accounts.password.ts';
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

export function servePages(instance: FastifyInstance): void {
  const pages: readonly (readonly [path: string, type: string, body: string])[] = [
    [`${apiPrefix}/reference`, html, page],
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
