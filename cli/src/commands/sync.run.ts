// sync.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { connect, retriesMany } from '../connection.ts';
import { printable } from '../files/format.ts';
import { isPattern } from '../files/glob.ts';
import { isRemote, parseRemote, type RemotePlace, toHolder } from '../files/place.ts';
import { openState } from '../files/state.ts';
import { type SyncOptions, syncDown, syncUp } from '../files/sync.ts';
import { createRun } from '../files/transfers.ts';
import type { Call } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';
import { spaceToWrite, toFacts, warnOfSkipped } from './transfer.run.ts';

type Options = Parameters<typeof toFacts>[0] & {
  readonly delete: boolean;
  readonly 'dry-run': boolean;
  readonly checksum: boolean;
  readonly yes: boolean;
  readonly follow: boolean;
  readonly jobs: number | undefined;
  readonly space: string | undefined;
};

export async function sync({
  options,
  arguments: given,
  context,
}: Call<Options, { source: string; target: string }>) {
  const isUp = isRemote(given.target);
  if (isUp === isRemote(given.source))
    throw new CommandError('misused', 'One side must be a local folder and the other one USER:FOLDER');
  const place = parseRemote(isUp ? given.target : given.source);
  refuseFile(place);
  const root = resolve(context.cwd, isUp ? given.source : given.target);
  await refuseNoFolder(root, isUp);
  const { client } = await connect(context, retriesMany);
  const run = createRun(context, options);
  const plan: SyncOptions['plan'] = (action, label) =>
    void context.out.print({ action, path: label, dryRun: true }, () => `${action} ${printable(label)}`);
  const syncing: SyncOptions = {
    holder: toHolder(client, place, spaceToWrite(options.space)),
    prefix: place.prefix,
    folder: place.path,
    root,
    state: openState(context.env),
    facts: toFacts(options),
    deletes: options.delete,
    deletesAll: options.yes,
    byContent: options.checksum,
    local: { follow: options.follow, onSkip: warnOfSkipped(context) },
    plan: options['dry-run'] ? plan : null,
  };
  await (isUp ? syncUp(run, syncing) : syncDown(run, syncing));
  return run.finish();
}

function refuseFile({ fileId, path }: RemotePlace): void {
  if (fileId !== undefined || isPattern(path))
    throw new CommandError('misused', 'sync takes one folder of the service: USER: or USER:FOLDER');
}

/** The target may come into being, the source must be there. */
async function refuseNoFolder(root: string, isSource: boolean): Promise<void> {
  const facts = await stat(root).catch(() => null);
  if (facts === null && isSource) throw new CommandError('notFound', `There is no folder ${root}`);
  if (facts !== null && !facts.isDirectory()) throw new CommandError('misused', `${root} is not a folder`);
}
