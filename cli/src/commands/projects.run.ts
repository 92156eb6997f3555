// Runs the commands of the admin.
import type { Client, Project } from '@pakhus/client/node';
import { printable } from '../files/format.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError, exitCodes } from '../frame/failure.ts';
import { ask, confirm, isInteractive, readSecret } from '../prompt.ts';
import { findNamed, open, pageSize, printSecret } from './results.ts';

interface OfProject {
  readonly project: string;
}

const describeProject = ({ id, name, email, active }: Project): string =>
  [id, printable(name), printable(email), ...(active ? [] : ['suspended'])].join('  ');

const printProject = ({ out }: Context, project: Project) =>
  out.print(project, () => describeProject(project));

const findProject = (client: Client, text: string, signal: AbortSignal): Promise<Project> =>
  findNamed(client.admin.projects.list({ limit: pageSize }, { signal }), text, 'project');

export async function listProjects({ context }: Call) {
  const { client, signal } = await open(context);
  for await (const project of client.admin.projects.list({ limit: pageSize }, { signal }))
    await printProject(context, project);
}

export async function createProject({
  options: { email },
  arguments: { name },
  context,
}: Call<{ email: string | undefined }, { name: string }>) {
  if (email === undefined) throw new CommandError('misused', 'The owner needs an address: pass --email');
  const { client, signal } = await open(context);
  const password = isInteractive(context)
    ? await ask(context, `Password for ${email} (not shown): `, true)
    : await readSecret(context.stdin);
  const created = await client.admin.projects.create({ name, email, password }, { signal });
  await printSecret(context, created, created.api_key, `Key of the project ${created.project.id}`);
}

export const suspendProject = (call: Call<unknown, OfProject>) => setActive(call, false);
export const activateProject = (call: Call<unknown, OfProject>) => setActive(call, true);

async function setActive({ arguments: given, context }: Call<unknown, OfProject>, active: boolean) {
  const { client, signal } = await open(context);
  const { id } = await findProject(client, given.project, signal);
  await printProject(context, await client.admin.projects.setActive(id, active, { signal }));
}

export async function rotateProject({ arguments: given, context }: Call<unknown, OfProject>) {
  const { client, signal } = await open(context);
  const { id } = await findProject(client, given.project, signal);
  const rotated = await client.admin.projects.rotateKey(id, { signal });
  await printSecret(context, rotated, rotated.api_key, `New key of the project ${id}`);
}

export async function deleteProject({
  options,
  arguments: given,
  context,
}: Call<{ yes: boolean }, OfProject>) {
  const { client, signal } = await open(context);
  const { id, name } = await findProject(client, given.project, signal);
  const what = `the project ${printable(name)} with all users and files`;
  if (!options.yes && isInteractive(context) && !(await confirm(context, `Delete ${what}?`))) {
    context.err.say('Nothing was deleted');
    return exitCodes.failed;
  }
  await client.admin.projects.delete(id, { signal });
  await context.out.print({ deleted: id }, `Deleted ${what}`);
  return exitCodes.done;
}
