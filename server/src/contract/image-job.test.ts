import { expect, test } from 'vitest';
import { type JobFacts, viewJob } from './image-job.ts';

const job: JobFacts = {
  id: 'job',
  file_id: 'file',
  status: 'pending',
  original_size: 1000,
  compressed_size: 300,
  format: 'webp',
  width: 8,
  height: 6,
  error: 'The last attempt failed',
};
const always = { job_id: 'job', file_id: 'file' };

test.each(['pending', 'processing'] as const)('a job that is %s shows neither result nor error', (status) => {
  expect(viewJob({ ...job, status })).toEqual({ ...always, status });
});

test('a job that is done shows its result and no error of an earlier attempt', () => {
  expect(viewJob({ ...job, status: 'done' })).toEqual({
    ...always,
    status: 'done',
    original_size: 1000,
    compressed_size: 300,
    compression_ratio: 3.33,
    format: 'webp',
    width: 8,
    height: 6,
  });
});

test('a job that has failed always says why', () => {
  const failed = { ...job, status: 'failed' } as const;
  expect(viewJob(failed)).toEqual({ ...always, status: 'failed', error: 'The last attempt failed' });
  expect(viewJob({ ...failed, error: null }).error).toMatch(/./);
});
