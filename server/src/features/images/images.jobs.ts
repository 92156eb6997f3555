// The worker for the queue of image jobs.
import { availableParallelism } from 'node:os';
import { queued } from '../../contract/job.ts';
import { compressImage } from './images.compress.ts';
import { type CompressionOrder, compressionQueue } from './images.service.ts';

export const compression = queued<CompressionOrder>({
  name: compressionQueue,
  queue: ({ IMAGE_TIMEOUT_SECONDS }) => ({
    // The job's row counts the attempts: those that die with their process must not count.
    retriesMax: 'endless',
    retryDelaySeconds: 1,
    // Waiting for a process and transferring the object take time besides the compression itself.
    lostAfterSeconds: IMAGE_TIMEOUT_SECONDS * 2 + 5,
  }),
  concurrency: ({ IMAGE_CONCURRENCY }) => IMAGE_CONCURRENCY ?? availableParallelism(),
  run: compressImage,
});
