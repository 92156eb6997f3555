// Checks the machine: disk, memory and open files.
import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Settings } from './contract/settings.ts';
import type { Report } from './doctor.findings.ts';
import { machineMemoryBytes } from './platform/machine-memory.ts';
import { createDiskSpace } from './platform/objects/disk/disk-space.ts';

const gibibyte = 2 ** 30;
const freeShareMin = 0.1;
const memoryBytesMin = 1 * gibibyte;
const openFilesMin = 4_096;

export async function examineMachine(settings: Settings, report: Report): Promise<void> {
  await judgeDisk(settings, report);
  judgeMemory(report);
  await judgeOpenFiles(report);
}

async function judgeDisk(
  { DATA_DIR, S3_BUCKET, DISK_FREE_BYTES_MIN }: Settings,
  report: Report,
): Promise<void> {
  const folder = nearestFolder(resolve(DATA_DIR));
  const { bavail, blocks, bsize } = await statfs(folder);
  const free = `${toGibibytes(bavail * bsize)} GiB of ${toGibibytes(blocks * bsize)} GiB are free on the disk of DATA_DIR`;
  const advice = 'free some space, or move DATA_DIR to a larger disk';
  if (S3_BUCKET === null && !(await takesUploads(folder, DISK_FREE_BYTES_MIN)))
    report.failed(`${free}: uploads are refused`, advice);
  else if (bavail < blocks * freeShareMin) report.warning(free, advice);
  else report.ok(free);
}

const takesUploads = (folder: string, floorBytes: number | null): Promise<boolean> =>
  createDiskSpace(folder, floorBytes)
    .reserve(1)
    .then(
      () => true,
      () => false,
    );

/** DATA_DIR may not exist yet. */
const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)));

const toGibibytes = (bytes: number): string => (bytes / gibibyte).toFixed(1);

function judgeMemory(report: Report): void {
  // 0 or a huge number means that no control group limits it.
  const bytes = machineMemoryBytes();
  const text = `${toGibibytes(bytes)} GiB of memory, ${availableParallelism()} cores`;
  if (bytes < memoryBytesMin) report.warning(text, 'give the service at least 1 GiB');
  else report.ok(text);
}

/** Only Linux tells it. */
async function judgeOpenFiles(report: Report): Promise<void> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  if (soft === undefined) report.skipped('the limit of open files cannot be read on this system');
  else if (soft !== 'unlimited' && Number(soft) < openFilesMin)
    report.warning(
      `a process started here may open ${soft} files and connections`,
      'raise the limit for the service: LimitNOFILE=65536 of systemd, or ulimit -n 65536',
    );
  else report.ok(`a process started here may open ${soft} files and connections`);
}
