// @pakhus/elements: one module without imports.
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, transformWithEsbuild } from 'vite';

/** Vite keeps the whitespace of ES libraries. */
const minifyWhole: Plugin = {
  name: 'minify-whole',
  apply: 'build',
  async generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk') {
        const options = { minify: true, charset: 'utf8', format: 'esm', target: 'es2022' } as const;
        chunk.code = (await transformWithEsbuild(chunk.code, chunk.fileName, options)).code;
      }
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [minifyWhole],
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
      '@pakhus/client': fileURLToPath(new URL('../../client/src/index.ts', import.meta.url)),
      // Only programs outside of browsers upload directly.
      './load-direct.ts': fileURLToPath(new URL('src/no-direct.ts', import.meta.url)),
    },
  },
  build: {
    target: 'es2022',
    outDir: process.env.ELEMENTS_OUT_DIR ?? 'dist',
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: 'index' },
    reportCompressedSize: false,
  },
});
