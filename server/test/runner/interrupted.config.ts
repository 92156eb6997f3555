import { mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

const { include: _usual, ...test } = usual.test ?? {};

export default mergeConfig(
  { ...usual, test },
  { test: { include: ['test/runner/*.fixture.ts'], reporters: ['default'] } },
);
