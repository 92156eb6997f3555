// For tests of <pakhus-files>: the built module, pages on another origin than the service that use it, and a browser.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { type BrowserChoice, withPage } from '../../server/test/support/browser.ts';

export const elementsDir = fileURLToPath(new URL('../elements', import.meta.url));

const clientSource = fileURLToPath(new URL('../../client/src/index.ts', import.meta.url));

/** Builds the element into a folder. */
export async function buildElement(outDir: string): Promise<void> {
  const configFile = join(elementsDir, 'vite.config.ts');
  await build({ root: elementsDir, configFile, logLevel: 'error', build: { outDir } });
}

/** Builds the page with the file browser of the console, served below /browser/. */
export async function buildPage(outDir: string): Promise<void> {
  await build({
    root: fileURLToPath(new URL('browser-page', import.meta.url)),
    base: '/browser/',
    configFile: false,
    logLevel: 'error',
    esbuild: { jsx: 'automatic', jsxImportSource: 'preact', jsxDev: false },
    resolve: { alias: { '@pakhus/client': clientSource } },
    build: { outDir, target: 'es2022', modulePreload: { polyfill: false } },
  });
}

export interface PageServer {
  readonly origin: string;
  close(): Promise<void>;
}

export interface PageOptions {
  /** Where files are looked for, the first one first. */
  readonly folders: readonly string[];
  /** The address of the service. */
  readonly service: () => string;
  /** A token for the person in front of the page, by the query of `/token`. */
  readonly mint: (query: URLSearchParams) => Promise<string>;
  /** Pages by their path, beside the files of the folders. */
  readonly pages?: Readonly<Record<string, string>>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** The policy that the README asks for, with Trusted Types on top. */
export function policyFor(baseUrl: string): string {
  const service = new URL(baseUrl).origin;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self' ${service}`,
    `img-src 'self' ${service}`,
    `media-src ${service}`,
    'frame-src blob:',
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** Serves pages under that policy, and `/token`. */
export async function servePages(options: PageOptions): Promise<PageServer> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/token') {
      const session = { baseUrl: options.service(), token: await options.mint(searchParams) };
      return response.end(JSON.stringify(session));
    }
    // Browsers ask for it by themselves.
    if (pathname === '/favicon.ico') return response.writeHead(204).end();
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    const content = await findContent(options, path);
    if (content === null) return response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': types[extname(path)] ?? 'application/octet-stream',
      'content-security-policy': policyFor(options.service()),
    });
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function findContent({ folders, pages }: PageOptions, path: string): Promise<string | Buffer | null> {
  const page = pages?.[path];
  if (page !== undefined) return page;
  for (const folder of folders) {
    const content = await readFile(join(folder, path)).catch(() => null);
    if (content) return content;
  }
  return null;
}

export interface OpenBrowser {
  readonly page: Page;
  /** What went wrong in the page so far: errors, refusals by its policy and lines on its console. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** A browser that several tests share. */
export async function openBrowser(choice: BrowserChoice): Promise<OpenBrowser> {
  const complaints: string[] = [];
  let finish: () => void = () => undefined;
  let closed: Promise<void> = Promise.resolve();
  const page = await new Promise<Page>((resolve, reject) => {
    closed = withPage(async (opened) => {
      opened.on('pageerror', (error) => complaints.push(error.message));
      opened.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      await opened.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) =>
          console.error(`refused by ${event.violatedDirective}: ${event.blockedURI}`),
        );
      });
      resolve(opened);
      await new Promise<void>((done) => {
        finish = done;
      });
    }, choice);
    closed.catch(reject);
  });
  return {
    page,
    complaints,
    close: async () => {
      finish();
      await closed;
    },
  };
}
