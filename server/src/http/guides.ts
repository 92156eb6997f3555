// The guides of docs/ as plain Markdown, and /llms.txt, which tells programs where they are.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { allowAnyOrigin } from './cors.ts';
import { apiPrefix } from './route-table.ts';

const docs = new URL('../../../docs/', import.meta.url);

interface Guide {
  /** Below docs/, so that links between guides work here as they do in the repository. */
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly text: string;
}

/** In the order in which they are read. */
const order = [
  'quick-start.md',
  'tokens-and-spaces.md',
  'uploads.md',
  'many-files.md',
  'sharing.md',
  'variants.md',
  'errors-and-repeats.md',
  'billing.md',
];

export function serveGuides(instance: FastifyInstance): void {
  const guides = readGuides();
  const pages = new Map(guides.map(({ path, text }) => [`/docs/${path}`, text]));
  pages.set('/llms.txt', buildIndex(guides));
  for (const [path, text] of pages) {
    const type = path.endsWith('.md') ? 'text/markdown' : 'text/plain';
    instance.get(path, async (_request, reply) => {
      allowAnyOrigin(reply);
      return reply.type(`${type}; charset=utf-8`).header('cache-control', 'no-cache').send(text);
    });
  }
}

/** None in an installation without documentation. */
function readGuides(): readonly Guide[] {
  if (!existsSync(docs)) return [];
  const names = readdirSync(new URL('guides/', docs)).filter((name) => !order.includes(name));
  return [...[...order, ...names].map((name) => `guides/${name}`), 'events.md', 'browser-uploads.md'].map(
    readGuide,
  );
}

function readGuide(path: string): Guide {
  const text = readFileSync(new URL(path, docs), 'utf8');
  const [heading = '', summary = ''] = text.split(/\n\n+/);
  return { path, title: heading.replace(/^# /, ''), summary: summary.replaceAll('\n', ' '), text };
}

const buildIndex = (guides: readonly Guide[]): string => `# Pakhus

> Multi-tenant file storage by HTTP: projects with plans, end users, spaces, exact quotas, delegated tokens, resumable uploads, image
> compression, events with webhooks, and an audit log.

All routes are below \`${apiPrefix}\` and take \`Authorization: Bearer\` with a key or a token. Errors are
\`{"error": {"code", "message", "details"}}\`. Lists have \`next_cursor\`, which goes back as \`cursor\`. JavaScript programs use
\`@pakhus/client\`, terminals the command \`pakhus\`.

## Guides

${guides.map(({ path, title, summary }) => `- [${title}](/docs/${path}): ${summary}`).join('\n')}

## API

- [OpenAPI 3.1 document](${apiPrefix}/openapi.json): every route with its parameters, examples and errors.
- [Reference](${apiPrefix}/reference): the same for people, to try out in a browser.
`;
