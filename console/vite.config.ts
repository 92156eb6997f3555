// The pages at /console: hashed files, which the service sends as they are.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { compressed } from './vite.compress.ts';

const service = process.env.PAKHUS_URL ?? 'http://127.0.0.1:3000';

export default defineConfig({
  plugins: [compressed()],
  resolve: {
    // From its sources, so that no older build of the client ends up in the pages.
    alias: { '@pakhus/client': fileURLToPath(new URL('../client/src/index.ts', import.meta.url)) },
  },
  // `npm run dev`: the pages with hot reload, in front of a service on its usual port.
  server: { proxy: { '/api': { target: service, changeOrigin: true, headers: { origin: service } } } },
  build: {
    target: 'es2022',
    // Everything stays a file: the content security policy allows no data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  experimental: {
    // The page is served for every path below /console. Scripts find each other wherever a proxy has put them.
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `/console/${file}` : { relative: true }),
  },
});
