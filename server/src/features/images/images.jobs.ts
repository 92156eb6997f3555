// The queue of image jobs.
import { availableParallelism } from 'node:os';
import { queued } from '../../contract/job.ts';
import { compressImage } from './images.compress.ts';
import { type CompressionOrder, compressionQueue } from './images.service.ts';

export const compression = queued<CompressionOrder>({
  name: compressionQueue,
  queue: ({ IMAGE_TIMEOUT_SECONDS }) => ({
    // The job's own row counts the tries that matter; one that ends with its process does not use one up.
    retriesMax: 'endless',
    retryDelaySeconds: 1,
    // Waiting for a process, reading and writing the object take time beside the image itself.
    lostAfterSeconds: IMAGE_TIMEOUT_SECONDS * 2 + 5,
  }),
  concurrency: ({ IMAGE_CONCURRENCY }) => IMAGE_CONCURRENCY ?? availableParallelism(),
  run: compressImage,
});
