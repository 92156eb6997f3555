// The console at /console: the built files, from memory. Every path below it that is no file is a screen of the page.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { parseEtags } from '../kernel/etag.ts';
import { type ContentCoding, chooseCoding } from '../kernel/media/content-coding.ts';
import type { Logger } from '../platform/log.ts';
import { pathOf } from './bookkeeping.ts';
import { routeNotFound } from './error-reply.ts';

export const consolePath = '/console/';

const builtFolder = fileURLToPath(new URL('../../../console/dist/', import.meta.url));

/** What is built is a fraction of this; it all stays in memory. */
const bytesMax = 16 * 1024 * 1024;

interface Variant {
  readonly body: Buffer;
  readonly etag: string;
}

interface BuiltFile {
  readonly type: string;
  readonly plain: Variant;
  readonly compressed: ReadonlyMap<ContentCoding, Variant>;
}

/** The files by their paths below the folder. */
export interface Console {
  readonly index: BuiltFile;
  readonly files: ReadonlyMap<string, BuiltFile>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
};

const suffixes: ReadonlyMap<ContentCoding, string> = new Map([
  ['br', '.br'],
  ['gzip', '.gz'],
]);

/** Null without a built console. Read once, so that a build while the service runs does not mix two versions. */
export function readConsole(log: Logger, folder: string | null = builtFolder): Console | null {
  if (folder === null) return null;
  try {
    return readFolder(folder);
  } catch (error) {
    log.warn({ err: error }, 'the console cannot be read and is not served: build it again');
    return null;
  }
}

function readFolder(folder: string): Console | null {
  if (!existsSync(join(folder, 'index.html'))) return null;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const bytes = names.reduce((sum, name) => sum + statSync(name).size, 0);
  if (bytes > bytesMax) throw new Error(`${folder} has ${bytes} bytes, of at most ${bytesMax}`);
  const present = new Set(names);
  const files = new Map<string, BuiltFile>();
  for (const name of names)
    if (![...suffixes.values()].includes(extname(name)))
      files.set(relative(folder, name).replaceAll(sep, '/'), readBuilt(name, present));
  const index = files.get('index.html');
  return index ? { index, files } : null;
}

function readBuilt(name: string, present: ReadonlySet<string>): BuiltFile {
  const compressed = new Map<ContentCoding, Variant>();
  for (const [coding, suffix] of suffixes)
    if (present.has(name + suffix)) compressed.set(coding, readVariant(name + suffix));
  const type = types[extname(name)] ?? 'application/octet-stream';
  return { type, plain: readVariant(name), compressed };
}

const readVariant = (name: string): Variant => toVariant(readFileSync(name));

function toVariant(body: Buffer): Variant {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

/** The path of PUBLIC_URL, if a proxy has put the service below one. */
export const publicPath = ({ PUBLIC_URL }: Pick<Deps['settings'], 'PUBLIC_URL'>): string =>
  PUBLIC_URL === null ? '' : new URL(PUBLIC_URL).pathname.replace(/\/$/, '');

/** The page names its scripts and styles by their full paths. Scripts find each other relative to themselves. */
function moveIndex(index: BuiltFile, path: string): BuiltFile {
  if (path === '') return index;
  const html = index.plain.body.toString().replaceAll(`="${consolePath}`, `="${path}${consolePath}`);
  return { ...index, plain: toVariant(Buffer.from(html)), compressed: new Map() };
}

export function serveConsole(instance: FastifyInstance, deps: Deps, pages: Console): void {
  const index = moveIndex(pages.index, publicPath(deps.settings));
  const pageHeaders = {
    'content-security-policy': buildPolicy(deps),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    // Not decoded: only the exact name of a built file leads to it, so no path leads anywhere else.
    const path = (request.url.split('?', 1)[0] ?? '').slice(consolePath.length);
    const isAsset = path === 'assets' || path.startsWith('assets/');
    const file = pages.files.get(path);
    if (!file && isAsset) throw routeNotFound(request.method, pathOf(request));
    if (!file || file === pages.index) reply.headers(pageHeaders);
    reply.header('cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
    return sendFile(request, reply, !file || file === pages.index ? index : file);
  };
  instance.get('/console', answer);
  instance.get(`${consolePath}*`, answer);
}

function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: BuiltFile): FastifyReply {
  const coding = chooseCoding(headers['accept-encoding'], (one) => file.compressed.has(one));
  const { body, etag } = (coding && file.compressed.get(coding)) ?? file.plain;
  reply.headers({ vary: 'Origin, Accept-Encoding', etag });
  if (isKnown(headers['if-none-match'], etag)) return reply.code(304).send();
  if (coding) reply.header('content-encoding', coding);
  return reply.type(file.type).send(body);
}

/** Weakly, as If-None-Match compares: a proxy may have weakened the ETag. */
const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  parseEtags(ifNoneMatch).some((known) => known === '*' || known.replace(/^W\//, '') === etag);

interface PolicyParts {
  readonly settings: Pick<Deps['settings'], 'PUBLIC_URL' | 'R2_PUBLIC_URL'>;
  readonly objects: Pick<Deps['objects'], 'urlOrigins'>;
}

/** Besides itself, the page may load the bytes of files from where their URLs point. */
export function buildPolicy({ settings, objects }: PolicyParts): string {
  const urls = [settings.PUBLIC_URL, settings.R2_PUBLIC_URL].filter((url) => url !== null);
  const origins = new Set([...urls.map((url) => new URL(url).origin), ...objects.urlOrigins]);
  const store = [...origins].map((origin) => ` ${origin}`).join('');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' blob:${store}`,
    `media-src 'self' blob:${store}`,
    `connect-src 'self'${store}`,
    'frame-src blob:',
    "font-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "manifest-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
