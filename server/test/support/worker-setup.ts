// Runs before every test file. Test files share workers, so each thing is done once.
import { expect } from 'vitest';

/** A worker kills itself when the runner is gone, and the guard then kills what it started. */
const endWithRunner = () => process.kill(process.pid, 'SIGKILL');
const isFirst = !process.listeners('disconnect').some(({ name }) => name === endWithRunner.name);

/** Otherwise `toEqual` compares bytes one by one, as properties: a sixth of what the tests of uploads take. */
function sameBytes(one: unknown, other: unknown): boolean | undefined {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
}

if (isFirst) {
  process.once('disconnect', endWithRunner);
  expect.addEqualityTesters([sameBytes]);
}
