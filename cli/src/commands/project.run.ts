// Runs the commands that manage a project.
import type { Client, Integration, Plan, Scope, UsageDay, User } from '@pakhus/client/node';
import { connect } from '../connection.ts';
import { formatBytes, formatCount, formatTime, printable } from '../files/format.ts';
import { parseUser } from '../files/place.ts';
import { parseSize } from '../files/size.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError, exitCodes } from '../frame/failure.ts';
import { confirm, isInteractive } from '../prompt.ts';
import { findNamed, open, pageSize, printSecret } from './results.ts';

interface OfUser {
  readonly user: string;
}
interface OfPlan {
  readonly plan: string;
}
interface OfId {
  readonly id: string;
}

const limitText = (bytes: number | null): string => (bytes === null ? 'unlimited' : formatBytes(bytes));

const describeUser = (user: User): string =>
  [
    user.id,
    `${formatBytes(user.storageUsed)} of ${limitText(user.storageLimit)}`.padStart(22),
    printable(user.external_id),
    ...(user.plan ? [`plan ${printable(user.plan.name)}`] : []),
    ...(user.active ? [] : ['inactive']),
    ...(user.overQuota ? ['over quota'] : []),
  ].join('  ');

const printUser = ({ out }: Context, user: User) => out.print(user, () => describeUser(user));

export async function settings({ options, context }: Call<{ 'trash-days': number | undefined }>) {
  const { client, signal } = await open(context);
  const { settings: of } = client.project;
  const days = options['trash-days'];
  const now =
    days === undefined ? await of.get({ signal }) : await of.update({ trash_days: days }, { signal });
  const { trash_days: kept } = now;
  await context.out.print(now, kept === 0 ? 'No trash' : `Trash: ${formatCount(kept, 'day')}`);
}

interface UserFilters {
  readonly find: string | undefined;
  readonly 'usage-min': number | undefined;
}

export async function listUsers({ options, context }: Call<UserFilters>) {
  const { client, signal } = await open(context);
  const usage = options['usage-min'];
  const query = {
    limit: pageSize,
    ...(options.find !== undefined && { q: options.find }),
    ...(usage !== undefined && { usage_min: usage }),
  };
  for await (const user of client.users.list(query, { signal })) await printUser(context, user);
}

export async function createUser({
  options,
  arguments: given,
  context,
}: Call<{ plan: string | undefined }, OfUser>) {
  const { client, signal } = await open(context);
  const planId = options.plan === undefined ? undefined : (await findPlan(client, options.plan, signal)).id;
  const user = await client.users.create({ externalId: given.user, ...(planId && { planId }) }, { signal });
  await printUser(context, user);
}

export async function getUser({ arguments: given, context }: Call<unknown, OfUser>) {
  const { client, signal } = await open(context);
  await printUser(context, await client.user(parseUser(given.user)).get({ signal }));
}

export async function deleteUser({ options, arguments: given, context }: Call<{ yes: boolean }, OfUser>) {
  const { client, signal } = await open(context);
  const resource = client.user(parseUser(given.user));
  const user = await resource.get({ signal });
  const what = `${printable(user.external_id)} with ${formatBytes(user.storageUsed)} of files`;
  if (!options.yes && isInteractive(context) && !(await confirm(context, `Delete ${what}?`))) {
    context.err.say('Nothing was deleted');
    return exitCodes.failed;
  }
  await resource.delete({ signal });
  await context.out.print({ deleted: user.id }, `Deleted ${what}`);
  return exitCodes.done;
}

export async function assignPlan({ arguments: given, context }: Call<unknown, OfUser & OfPlan>) {
  const { client, signal } = await open(context);
  const plan = await findPlan(client, given.plan, signal);
  await printUser(context, await client.user(parseUser(given.user)).assignPlan(plan.id, { signal }));
}

export const activateUser = (call: Call<unknown, OfUser>) => setActive(call, true);
export const deactivateUser = (call: Call<unknown, OfUser>) => setActive(call, false);

async function setActive({ arguments: given, context }: Call<unknown, OfUser>, active: boolean) {
  const { client, signal } = await open(context);
  await printUser(context, await client.user(parseUser(given.user)).update({ active }, { signal }));
}

const describePlan = (plan: Plan): string =>
  [
    plan.id,
    limitText(plan.storageLimit).padStart(9),
    `files up to ${formatBytes(plan.maxFileSize)}`,
    printable(plan.name),
    ...(plan.allowedMimes.length > 0 ? [plan.allowedMimes.join(' ')] : []),
    ...(plan.is_default ? ['default'] : []),
  ].join('  ');

const printPlan = ({ out }: Context, plan: Plan) => out.print(plan, () => describePlan(plan));

const findPlan = (client: Client, text: string, signal: AbortSignal): Promise<Plan> =>
  findNamed(client.project.plans.list({ limit: pageSize }, { signal }), text, 'plan');

export async function listPlans({ context }: Call) {
  const { client, signal } = await open(context);
  for await (const plan of client.project.plans.list({ limit: pageSize }, { signal }))
    await printPlan(context, plan);
}

interface PlanOptions {
  readonly description: string | undefined;
  readonly storage: string | undefined;
  readonly 'max-file-size': string | undefined;
  readonly 'max-files': number | undefined;
  readonly 'max-spaces': number | undefined;
  readonly mime: readonly string[];
}

const toPlan = (options: PlanOptions) => ({
  ...(options.description !== undefined && { description: options.description }),
  ...(options.storage !== undefined && {
    storageLimit: options.storage === 'unlimited' ? null : parseSize(options.storage, '--storage'),
  }),
  ...(options['max-file-size'] !== undefined && {
    maxFileSize: parseSize(options['max-file-size'], '--max-file-size'),
  }),
  ...(options['max-files'] !== undefined && { maxFiles: options['max-files'] }),
  ...(options['max-spaces'] !== undefined && { maxSpaces: options['max-spaces'] }),
  ...(options.mime.length > 0 && { allowedMimes: [...options.mime] }),
});

export async function createPlan({
  options,
  arguments: given,
  context,
}: Call<PlanOptions, { name: string }>) {
  const { maxFileSize, ...rest } = toPlan(options);
  if (maxFileSize === undefined)
    throw new CommandError('misused', 'A plan needs the size of the largest file: --max-file-size 100MB');
  const { client, signal } = await open(context);
  const body = { name: given.name, maxFileSize, ...rest };
  await printPlan(context, await client.project.plans.create(body, { signal }));
}

export async function updatePlan({
  options,
  arguments: given,
  context,
}: Call<PlanOptions & { name: string | undefined }, OfPlan>) {
  const { client, signal } = await open(context);
  const { id } = await findPlan(client, given.plan, signal);
  const body = { ...(options.name !== undefined && { name: options.name }), ...toPlan(options) };
  await printPlan(context, await client.project.plans.update(id, body, { signal }));
}

export async function deletePlan({ arguments: given, context }: Call<unknown, OfPlan>) {
  const { client, signal } = await open(context);
  const { id, name } = await findPlan(client, given.plan, signal);
  await client.project.plans.delete(id, { signal });
  await context.out.print({ deleted: id }, `Deleted the plan ${printable(name)}`);
}

export async function makePlanDefault({ arguments: given, context }: Call<unknown, OfPlan>) {
  const { client, signal } = await open(context);
  const { id } = await findPlan(client, given.plan, signal);
  await printPlan(context, await client.project.plans.makeDefault(id, { signal }));
}

export async function listKeys({ context }: Call) {
  const { client, signal } = await open(context);
  for await (const key of client.project.keys.list({ limit: pageSize }, { signal }))
    await context.out.print(key, () =>
      [
        key.id,
        `${key.key_prefix}…`,
        `last used ${key.last_used_at ? formatTime(key.last_used_at) : 'never'}`.padEnd(26),
        printable(key.name ?? ''),
        ...(key.active ? [] : ['revoked']),
      ].join('  '),
    );
}

export async function createKey({ options, context }: Call<{ name: string | undefined }>) {
  const { client, signal } = await open(context);
  const created = await client.project.keys.create(options.name === undefined ? {} : { name: options.name }, {
    signal,
  });
  await printSecret(context, created, created.api_key, `Key ${created.key.id}`);
}

export async function revokeKey({ arguments: given, context }: Call<unknown, OfId>) {
  const { client, signal } = await open(context);
  await client.project.keys.revoke(given.id, { signal });
  await context.out.print({ revoked: given.id }, `Revoked the key ${given.id}`);
}

interface IntegrationOptions {
  readonly name: string | undefined;
  readonly scope: readonly string[];
  readonly origin: readonly string[];
  readonly 'dev-mode': string | undefined;
}

/** The service knows the scopes, and names the wrong one. */
const toScopes = (given: readonly string[]): Scope[] => given as readonly Scope[] as Scope[];

const toIntegration = (options: IntegrationOptions) => ({
  ...(options.name !== undefined && { name: options.name }),
  ...(options.scope.length > 0 && { scopes: toScopes(options.scope) }),
  ...(options.origin.length > 0 && { corsOrigins: [...options.origin] }),
  ...(options['dev-mode'] !== undefined && { devMode: options['dev-mode'] === 'on' }),
});

const describeIntegration = (one: Integration): string =>
  [
    one.id,
    `${one.key_prefix}…`,
    printable(one.name ?? ''),
    one.scopes.join(' '),
    one.corsOrigins.join(' '),
    ...(one.devMode ? ['development'] : []),
    ...(one.active ? [] : ['inactive']),
  ]
    .filter(Boolean)
    .join('  ');

export async function listIntegrations({ context }: Call) {
  const { client, signal } = await open(context);
  for await (const one of client.project.integrations.list({ limit: pageSize }, { signal }))
    await context.out.print(one, () => describeIntegration(one));
}

export async function createIntegration({ options, context }: Call<IntegrationOptions>) {
  const { client, signal } = await open(context);
  const created = await client.project.integrations.create(toIntegration(options), { signal });
  await printSecret(context, created, created.api_key, `Key of the integration ${created.integration.id}`);
}

export async function updateIntegration({
  options,
  arguments: given,
  context,
}: Call<IntegrationOptions & { active: string | undefined }, OfId>) {
  const { client, signal } = await open(context);
  const active = options.active === undefined ? {} : { active: options.active === 'on' };
  const body = { ...toIntegration(options), ...active };
  const updated = await client.project.integrations.update(given.id, body, { signal });
  await context.out.print(updated, () => describeIntegration(updated));
}

export async function rotateIntegration({ arguments: given, context }: Call<unknown, OfId>) {
  const { client, signal } = await open(context);
  const rotated = await client.project.integrations.rotateKey(given.id, { signal });
  await printSecret(context, rotated, rotated.api_key, `New key of the integration ${given.id}`);
}

export async function deleteIntegration({ arguments: given, context }: Call<unknown, OfId>) {
  const { client, signal } = await open(context);
  await client.project.integrations.delete(given.id, { signal });
  await context.out.print({ deleted: given.id }, `Deleted the integration ${given.id}`);
}

export async function mintToken({
  options,
  arguments: given,
  context,
}: Call<{ scope: readonly string[] }, OfUser>) {
  const { client, signal } = await open(context);
  const body = options.scope.length > 0 ? { scopes: toScopes(options.scope) } : {};
  const minted = await client.user(parseUser(given.user)).tokens.mint(body, { signal });
  await printSecret(context, minted, minted.token, `Token ${minted.jti}, valid until ${minted.expires_at}`);
}

export async function revokeToken({ arguments: given, context }: Call<unknown, OfUser & { jti: string }>) {
  const { client, signal } = await open(context);
  await client.user(parseUser(given.user)).tokens.revoke(given.jti, { signal });
  await context.out.print({ revoked: given.jti }, `Revoked the token ${given.jti}`);
}

interface UsageOptions {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly csv: boolean;
}

export async function usage({
  options,
  arguments: given,
  context,
}: Call<UsageOptions, { user: string | undefined }>) {
  const { client, credential } = await connect(context);
  if (options.csv || options.from !== undefined || options.to !== undefined)
    return printDays(context, client, given.user, options);
  const { signal, out } = context;
  if (given.user === undefined && credential.userId === null) {
    const overview = await client.project.stats.overview({ signal });
    const { users, files, bytes } = overview.storage;
    await out.print(
      overview,
      () => `${formatCount(users, 'user')}, ${formatCount(files, 'file')}, ${formatBytes(bytes)}`,
    );
    return;
  }
  const storage = await client.user(parseUser(given.user ?? '')).storage({ signal });
  const { storageUsed, storageLimit, storageReserved, usagePercent, overQuota } = storage;
  await out.print(storage, () =>
    [
      `${formatBytes(storageUsed)} of ${limitText(storageLimit)}`,
      ...(storageLimit === null ? [] : [`${usagePercent} %`]),
      ...(storageReserved > 0 ? [`${formatBytes(storageReserved)} reserved for uploads`] : []),
      ...(overQuota ? ['over quota'] : []),
    ].join(', '),
  );
}

const usageColumns = [
  'date',
  'user_id',
  'bytes_max',
  'bytes_end',
  'uploads',
  'downloads',
  'bytes_in',
] as const;

async function printDays(
  { out, signal }: Context,
  client: Client,
  userText: string | undefined,
  { from, to, csv }: UsageOptions,
): Promise<void> {
  const userId = userText === undefined ? undefined : await findUserId(client, userText, signal);
  const query = {
    ...(from && { from }),
    ...(to && { to }),
    ...(userId && { user_id: userId }),
    limit: 10_000,
  };
  if (csv) await out.write(`${usageColumns.join(',')}\r\n`);
  for await (const day of client.project.usage(query, { signal }))
    if (csv) await out.write(`${usageColumns.map((name) => day[name]).join(',')}\r\n`);
    else await out.print(day, () => describeDay(day));
}

const describeDay = (day: UsageDay): string =>
  [
    `${day.date}  ${day.user_id}`,
    `${formatBytes(day.bytes_end)}, at most ${formatBytes(day.bytes_max)}`,
    `${formatCount(day.uploads, 'upload')} of ${formatBytes(day.bytes_in)}`,
    formatCount(day.downloads, 'download'),
  ].join('  ');

/** An id needs no question: the user may have been deleted since. */
async function findUserId(client: Client, text: string, signal: AbortSignal): Promise<string> {
  const user = parseUser(text);
  return typeof user === 'object' && 'id' in user ? user.id : (await client.user(user).get({ signal })).id;
}
