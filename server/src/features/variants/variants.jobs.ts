// The workers that make variant images, and their upkeep.
import { availableParallelism } from 'node:os';
import { periodic, queued } from '../../contract/job.ts';
import { type MakingOrder, makingQueue } from './variants.deliver.ts';
import { dropRetired, evictAll } from './variants.evict.ts';
import { makeVariant } from './variants.make.ts';

export const variantMaking = queued<MakingOrder>({
  name: makingQueue,
  queue: ({ IMAGE_TIMEOUT_SECONDS }) => ({
    // The image's row counts the attempts.
    retriesMax: 'endless',
    retryDelaySeconds: 1,
    lostAfterSeconds: IMAGE_TIMEOUT_SECONDS * 2 + 5,
  }),
  // The engine bounds how many images are worked on, and serves image jobs and variants in the order of their arrival.
  concurrency: ({ IMAGE_CONCURRENCY }) => IMAGE_CONCURRENCY ?? availableParallelism(),
  run: makeVariant,
});

export const variantUpkeep = periodic({
  name: 'variants.upkeep',
  everySeconds: () => 60,
  async run(deps, signal) {
    await dropRetired(deps, signal);
    await evictAll(deps, signal);
  },
});
