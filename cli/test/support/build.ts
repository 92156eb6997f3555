import { buildIfStale } from '../../../scripts/build.mjs';

export async function setup(): Promise<void> {
  await buildIfStale('client', 'cli');
}
