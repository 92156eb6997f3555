// The periodic jobs for files: they move objects which are in the wrong zone, read files whose digests are not known, remove files
// whose time has come, and index files for searches.
import { periodic } from '../../contract/job.ts';
import { reap } from '../objects/objects.reaper.ts';
import { hashUnread } from './files.hash.ts';
import { moveMisplaced } from './files.move.ts';
import { indexOlderFiles } from './files.search.ts';
import { emptyTrash, removeExpired } from './files.upkeep.ts';

const moveEverySeconds = 15;

export const mover = periodic({
  name: 'files.move',
  everySeconds: () => moveEverySeconds,
  async run(deps, signal) {
    if (deps.objects.separatesPublic) await reap(deps, signal, 'exposed');
    const moved = await moveMisplaced(deps, signal);
    if (moved > 0) deps.log.info({ moved }, 'moved files to the zone that matches their visibility');
  },
});

const expireEverySeconds = 15;

export const expirer = periodic({
  name: 'files.expire',
  everySeconds: () => expireEverySeconds,
  async run(deps, signal) {
    const expired = await removeExpired(deps, signal);
    const purged = await emptyTrash(deps, signal);
    if (expired + purged > 0) deps.log.info({ expired, purged }, 'removed files whose time has come');
  },
});

const hashEverySeconds = 15;

export const hasher = periodic({
  name: 'files.hash',
  everySeconds: () => hashEverySeconds,
  async run(deps, signal) {
    const hashed = await hashUnread(deps, signal);
    if (hashed > 0) deps.log.info({ hashed }, 'read files for their digests');
  },
});

const indexEverySeconds = 15;

export const indexer = periodic({
  name: 'files.index',
  everySeconds: () => indexEverySeconds,
  async run(deps, signal) {
    const chunks = await indexOlderFiles(deps, signal);
    if (chunks > 0) deps.log.info({ chunks }, 'indexed files of projects that search');
  },
});
