// @pakhus/elements: index.js without static imports, and a second file that it loads when it is wanted.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build, defineConfig, type InlineConfig, type Plugin, transformWithEsbuild } from 'vite';

const pathTo = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const minify = async (code: string, name: string): Promise<string> => {
  const options = { minify: true, charset: 'utf8', format: 'esm', target: 'es2022' } as const;
  return (await transformWithEsbuild(code, name, options)).code;
};

/** Vite keeps the whitespace of ES libraries. */
const minifyWhole: Plugin = {
  name: 'minify-whole',
  apply: 'build',
  async generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk') chunk.code = await minify(chunk.code, chunk.fileName);
  },
};

const shared = {
  // Shorter than the automatic runtime, and the same in every environment.
  esbuild: {
    jsx: 'transform',
    jsxDev: false,
    jsxFactory: 'h',
    jsxFragment: 'Fragment',
    jsxInject: "import { h, Fragment } from 'preact'",
  },
  define: { 'process.env.NODE_ENV': '"production"' },
  resolve: {
    alias: {
      // From the sources, so that no stale build of the client is bundled.
      '@pakhus/client': pathTo('../../client/src/index.ts'),
      // Only programs outside of browsers upload directly.
      './load-direct.ts': pathTo('src/no-direct.ts'),
    },
  },
} satisfies InlineConfig;

interface SecondFile {
  readonly name: string;
  readonly code: string;
  /** What it takes from the first file, by module. */
  readonly taken: Readonly<Record<string, readonly string[]>>;
}

/** Modules of which there must be one copy, and those that the first file has anyway. */
const isTaken = (id: string): boolean =>
  /^(preact|@preact\/signals)(\/|$)/.test(id) ||
  /\/src\/browser\/(button|context|dialog|download|error-view|icons|menu)\.tsx?$/.test(id);

/** Its name has a hash, so that no two versions are mixed by a cache. */
async function buildSecond(): Promise<SecondFile> {
  const result = await build({
    ...shared,
    root: pathTo('.'),
    configFile: false,
    logLevel: 'error',
    build: {
      target: 'es2022',
      write: false,
      minify: false,
      lib: { entry: 'src/more.ts', formats: ['iife'], name: 'more', fileName: 'more' },
      rollupOptions: { external: isTaken, output: { globals: () => 'taken' } },
    },
  });
  const [chunk] = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
  if (chunk?.type !== 'chunk') throw new Error('The second file was not built');
  const wrapped = `export const create = (taken) => {${chunk.code}; return more; }`;
  const code = await minify(wrapped, 'more.js');
  const hash = createHash('sha256').update(code).digest('hex').slice(0, 8);
  return { name: `pakhus-files-more-${hash}.js`, code, taken: chunk.importedBindings };
}

const secondFile = (): Plugin => {
  let second: SecondFile;
  return {
    name: 'second-file',
    apply: 'build',
    async buildStart() {
      second = await buildSecond();
      this.emitFile({ type: 'asset', fileName: second.name, source: second.code });
    },
    resolveId: (id) => (id === `./${second.name}` ? { id, external: true } : null),
    load(id) {
      if (!id.endsWith('/src/load-more.ts')) return null;
      const modules = Object.entries(second.taken);
      const imports = modules.map(
        ([from, names]) => `import { ${names.join()} } from ${JSON.stringify(from)};`,
      );
      const names = modules.flatMap(([, list]) => list).join();
      return `${imports.join('\n')}
        const taken = { ${names} };
        export const loadMore = async () => (await import('./${second.name}')).create(taken);`;
    },
  };
};

export default defineConfig({
  ...shared,
  root: pathTo('.'),
  plugins: [secondFile(), minifyWhole],
  build: {
    target: 'es2022',
    outDir: process.env.ELEMENTS_OUT_DIR ?? 'dist',
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: 'index' },
    reportCompressedSize: false,
  },
});
