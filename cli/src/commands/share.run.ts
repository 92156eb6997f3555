// share, share list, share update and share revoke.
import type { Share } from '@pakhus/client/node';
import { connect } from '../connection.ts';
import { formatCount, formatTime, printable } from '../files/format.ts';
import { parseRemote, parseUser, toHolder } from '../files/place.ts';
import { findSingleFile } from '../files/remote.ts';
import { parseWhen } from '../files/when.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';
import { ask, isInteractive, readSecret } from '../prompt.ts';
import { pageSize } from './results.ts';

interface ShareOptions {
  readonly expires: string | undefined;
  readonly password: boolean;
  readonly 'max-downloads': number | undefined;
  readonly name: string | undefined;
  readonly space: string | undefined;
}

export async function share({ options, arguments: given, context }: Call<ShareOptions, { place: string }>) {
  const place = parseRemote(given.place);
  const expires_at = options.expires === undefined ? undefined : parseWhen(options.expires, '--expires');
  const { client } = await connect(context);
  const { signal } = context;
  const holder = toHolder(client, place, options.space);
  const { id } = await findSingleFile(holder, place, signal);
  const password = options.password ? await readPassword(context) : undefined;
  const downloads = options['max-downloads'];
  const body = {
    ...(expires_at && { expires_at }),
    ...(password && { password }),
    ...(downloads !== undefined && { max_downloads: downloads }),
    ...(options.name !== undefined && { name: options.name }),
  };
  const created = await (await holder.user.shares()).create(id, body, { signal });
  await context.out.print(created, created.url);
  const end = created.share.expires_at;
  context.err.say(
    `Share ${created.share.id}${end ? `, valid until ${end}` : ''}. The link is shown only this once`,
  );
}

async function readPassword(context: Context): Promise<string> {
  const password = isInteractive(context)
    ? await ask(context, 'Password of the link: ', true)
    : await readSecret(context.stdin);
  if (password === '') throw new CommandError('misused', 'The password is empty: type one, or pipe it in');
  return password;
}

export async function listShares({
  options,
  arguments: given,
  context,
}: Call<{ space: string | undefined }, { place: string | undefined }>) {
  const { client } = await connect(context);
  const { signal } = context;
  const place = parseRemote(given.place ?? ':');
  const holder = toHolder(client, place, options.space);
  const shares = await holder.user.shares();
  const isWhole = place.path === '' && place.fileId === undefined;
  const query = { limit: pageSize };
  const listed = isWhole
    ? shares.list(query, { signal })
    : shares.listOf((await findSingleFile(holder, place, signal)).id, query, { signal });
  for await (const one of listed) await context.out.print(one, () => describeShare(one));
}

const describeShare = (one: Share): string =>
  [
    one.id,
    `file ${one.file_id}`,
    one.max_downloads === null
      ? formatCount(one.downloads, 'download')
      : `${one.downloads} of ${formatCount(one.max_downloads, 'download')}`,
    ...(one.expires_at === null ? [] : [`until ${formatTime(one.expires_at)}`]),
    ...(one.has_password ? ['password'] : []),
    ...(one.active ? [] : ['inactive']),
    printable(one.name ?? ''),
  ]
    .filter(Boolean)
    .join('  ');

interface OfShare {
  readonly user: string;
  readonly id: string;
}

interface ShareChanges {
  readonly expires: string | undefined;
  readonly password: boolean;
  readonly 'no-password': boolean;
  readonly 'max-downloads': number | undefined;
  readonly name: string | undefined;
  readonly active: string | undefined;
}

export async function updateShare({ options, arguments: given, context }: Call<ShareChanges, OfShare>) {
  const { signal, out } = context;
  if (options.password && options['no-password'])
    throw new CommandError('misused', 'Say either --password or --no-password');
  const body = toChange(options);
  if (Object.keys(body).length === 0 && !options.password)
    throw new CommandError('misused', 'Say what to change: pakhus share update --help');
  const { shares, found } = await findShare(given, context);
  const password = options.password ? { password: await readPassword(context) } : {};
  const changed = await shares.update(found.file_id, found.id, { ...body, ...password }, { signal });
  await out.print(changed, () => describeShare(changed));
}

function toChange(options: ShareChanges) {
  const { expires, name, active, 'no-password': isOpen, 'max-downloads': downloads } = options;
  return {
    ...(expires !== undefined && {
      expires_at: expires === 'never' ? null : parseWhen(expires, '--expires'),
    }),
    ...(isOpen && { password: null }),
    ...(downloads !== undefined && { max_downloads: downloads || null }),
    ...(name !== undefined && { name: name || null }),
    ...(active !== undefined && { active: active === 'on' }),
  };
}

export async function revokeShare({ arguments: given, context }: Call<unknown, OfShare>) {
  const { shares, found } = await findShare(given, context);
  await shares.delete(found.file_id, found.id, { signal: context.signal });
  await context.out.print({ revoked: found.id }, `Revoked the share ${found.id}`);
}

/** The route names the file as well, which nobody remembers. */
async function findShare({ user, id }: OfShare, context: Context) {
  const { client } = await connect(context);
  const shares = await client.user(parseUser(user)).shares();
  for await (const found of shares.list({ limit: pageSize }, { signal: context.signal }))
    if (found.id === id.toLowerCase()) return { shares, found };
  throw new CommandError('notFound', `There is no share ${id}: pakhus share list ${user} shows them`);
}
