// The order of test files. vitest starts the largest first, so that a small one that takes long would keep a single worker busy
// after all others are done.
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const smallButLong = new Set(
  [
    ...['interrupted', 'pooler', 'uploads-owners-gone', 'migration-locks'],
    ...['guides', 'demo'],
    ...['examples', 'browsers'],
  ].map((name) => `${name}.test.ts`),
);

const isLong = ({ moduleId }: TestSpecification): boolean => smallButLong.has(basename(moduleId));

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
