// What the server's tests need, and the console, built.
import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../../scripts/build.mjs';
import { setup as setUpServer } from '../../../server/test/support/global-setup.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [tearDown] = await Promise.all([setUpServer(project), buildIfStale('console')]);
  return tearDown;
}
