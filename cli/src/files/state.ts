// Where unfinished transfers are remembered: $XDG_STATE_HOME/pakhus.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { folderStore, type ResumeStore } from '@pakhus/client/node';
import type { Environment } from '../frame/command.ts';

export interface TransferState {
  readonly uploads: ResumeStore;
  readonly downloads: ResumeStore;
}

export function openState(env: Environment): TransferState {
  const home = env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
  const folder = join(home, 'pakhus');
  return { uploads: folderStore(join(folder, 'uploads')), downloads: folderStore(join(folder, 'downloads')) };
}
