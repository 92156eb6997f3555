// Runs the commands for image variants.
import { basename, extname, join, resolve } from 'node:path';
import { PakhusError, type Variant } from '@pakhus/client/node';
import { connect, retriesMany } from '../connection.ts';
import { formatBytes, printable } from '../files/format.ts';
import { refuseName } from '../files/get.ts';
import { receiveImage } from '../files/image.ts';
import { type Holder, parseRemote, toHolder } from '../files/place.ts';
import { findSingleFile, type RemoteFile } from '../files/remote.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';
import { open } from './results.ts';
import { isExistingFolder } from './transfer.run.ts';

interface OfVariant {
  readonly variant: string;
}

interface VariantOptions {
  readonly format: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly fit: string | undefined;
  readonly quality: number | undefined;
}

const describeVariant = ({ name, format, quality, width, height, fit }: Variant): string =>
  [
    name.padEnd(16),
    format.padEnd(4),
    `${width ?? 'any'} x ${height ?? 'any'}`,
    fit,
    `quality ${quality}`,
  ].join('  ');

export async function listVariants({ context }: Call) {
  const { client, signal } = await open(context);
  for await (const one of (await client.project.variants()).list({ signal }))
    await context.out.print(one, () => describeVariant(one));
}

/** A width or height of 0 is any. */
const toSide = (pixels: number): number | null => (pixels === 0 ? null : pixels);

const toChange = ({ format, width, height, fit, quality }: VariantOptions) => ({
  ...(format !== undefined && { format: format as Variant['format'] }),
  ...(width !== undefined && { width: toSide(width) }),
  ...(height !== undefined && { height: toSide(height) }),
  ...(fit !== undefined && { fit: fit as Variant['fit'] }),
  ...(quality !== undefined && { quality }),
});

export async function setVariant({ options, arguments: given, context }: Call<VariantOptions, OfVariant>) {
  const { client, signal } = await open(context);
  const variants = await client.project.variants();
  const name = given.variant;
  const change = toChange(options);
  const changed = await variants.update(name, change, { signal }).catch((error) => {
    if (!(error instanceof PakhusError && error.status === 404)) throw error;
    const { format } = change;
    if (format === undefined)
      throw new CommandError('misused', `There is no variant ${name} yet: a new one needs --format`);
    return variants.create({ ...change, name, format }, { signal });
  });
  await context.out.print(changed, () => describeVariant(changed));
}

export async function removeVariant({ arguments: given, context }: Call<unknown, OfVariant>) {
  const { client, signal } = await open(context);
  await (await client.project.variants()).delete(given.variant, { signal });
  await context.out.print({ deleted: given.variant }, `Deleted the variant ${given.variant}`);
}

interface GetOptions {
  readonly force: boolean;
  readonly space: string | undefined;
}

export async function getVariant({
  options,
  arguments: given,
  context,
}: Call<GetOptions, OfVariant & { place: string; target: string | undefined }>) {
  const { variant, target } = given;
  const place = parseRemote(given.place);
  if (target === '-' && context.isJson)
    throw new CommandError('misused', 'An image cannot be written as JSON: leave --json out');
  const { client } = await connect(context, retriesMany);
  const { signal, out } = context;
  const holder = toHolder(client, place, options.space);
  const file = await findSingleFile(holder, place, signal);
  if (target === undefined) {
    const image = await holder.user.files.variant(file.id, variant, { signal });
    await out.print(image, image.url);
  } else if (target === '-') await writeImage(holder, file, variant, context);
  else await saveImage(holder, file, variant, target, options.force, context);
}

async function writeImage({ user }: Holder, { id }: RemoteFile, variant: string, { out, signal }: Context) {
  const { body } = await user.files.content(id, { variant, signal });
  for await (const chunk of body ?? []) await out.write(chunk);
}

async function saveImage(
  holder: Holder,
  file: RemoteFile,
  variant: string,
  target: string,
  force: boolean,
  { cwd, out, signal }: Context,
): Promise<void> {
  const path = resolve(cwd, target);
  const isInto = target.endsWith('/') || (await isExistingFolder(path));
  const toPath = (format: string) => (isInto ? join(path, nameImage(file.name, variant, format)) : path);
  const saved = await receiveImage(holder, file.id, variant, { toPath, force, signal });
  await out.print(saved, () => `${printable(saved.path)} (${formatBytes(saved.size)})`);
}

function nameImage(name: string, variant: string, format: string): string {
  refuseName(name);
  return `${basename(name, extname(name))}-${variant}.${format === 'jpeg' ? 'jpg' : format}`;
}
