// Runs the service and restarts it whenever a source changes.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pakhus = fileURLToPath(new URL('../cli/bin/pakhus.mjs', import.meta.url));
const sources = fileURLToPath(new URL('../server/src', import.meta.url));
let child = start();
let timer;

function start() {
  return spawn(process.execPath, ['--enable-source-maps', pakhus, 'serve'], { stdio: 'inherit' });
}

function restart() {
  const old = child;
  old.once('exit', () => {
    child = start();
  });
  if (old.exitCode === null) old.kill('SIGTERM');
  else child = start();
}

watch(sources, { recursive: true }, () => {
  clearTimeout(timer);
  timer = setTimeout(restart, 200);
});

// A terminal sends SIGINT to both processes; SIGTERM reaches only this one and is forwarded.
const endWithChild = () => {
  if (child.exitCode !== null || child.signalCode !== null) process.exit(child.exitCode ?? 1);
  child.once('exit', (code) => process.exit(code ?? 1));
};
process.once('SIGINT', endWithChild);
process.once('SIGTERM', () => {
  endWithChild();
  child.kill('SIGTERM');
});
