// Pages of another origin: their code is bundled as integrators do it, partly out of the guides.
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The code block of a guide that has this text. */
export async function codeOfGuide(guide: string, text: string): Promise<string> {
  const blocks = [...(await readFile(join(root, 'docs', guide), 'utf8')).matchAll(/^```js\n(.*?)^```$/gms)];
  const found = blocks.map(([, code = '']) => code).find((code) => code.includes(text));
  if (!found) throw new Error(`${guide} has lost its code with ${text}`);
  return found;
}

/** Bundles `page.js`, which may import the other modules and packages. */
export async function bundlePage(modules: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-page-'));
  try {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const [name, code] of Object.entries(modules)) await writeFile(join(folder, name), code);
    const result = await build({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        minify: false,
        rollupOptions: { input: join(folder, 'page.js'), output: { inlineDynamicImports: true } },
      },
    });
    const { output } = [result].flat()[0] as { output: { code?: string }[] };
    return output[0]?.code ?? '';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface Site {
  readonly origin: string;
  close(): void;
}

/** Serves a page on loopback, at an origin of its own. */
export async function startSite(listener: RequestListener): Promise<Site> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() };
}
