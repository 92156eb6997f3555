import { buildIfStale } from '../../../scripts/build.mjs';

export function setup(): void {
  buildIfStale('client');
  buildIfStale('cli');
}
