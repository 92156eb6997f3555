#!/usr/bin/env node
// The command. In a checkout, builds first what is missing or older than its sources.
import { existsSync } from 'node:fs';

// A published package has no sources.
const isCheckout = existsSync(new URL('../src', import.meta.url));
const build = isCheckout ? (await import('../../scripts/build.mjs')).buildIfStale : async () => undefined;

await build('client', 'cli');
const { main } = await import('../dist/main.js');
process.exitCode = await main({
  words: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  // Not before a command needs it: the service is much larger than the rest.
  prepareServer: () => build('server', 'console'),
});
