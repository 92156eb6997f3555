import { mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

const { include: _usual, ...test } = usual.test ?? {};

// biome-ignore lint/style/noDefaultExport: vitest reads a configuration that way
export default mergeConfig(
  { ...usual, test },
  { test: { include: ['test/runner/*.fixture.ts'], reporters: ['default'] } },
);
