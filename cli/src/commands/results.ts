// What the commands that manage things share: the client, and how a secret is printed.
import type { Client } from '@pakhus/client/node';
import { connect } from '../connection.ts';
import type { Context } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';

/** Of a list. */
export const pageSize = 100;

export async function open(context: Context): Promise<{ client: Client; signal: AbortSignal }> {
  return { client: (await connect(context)).client, signal: context.signal };
}

export async function printSecret(
  { out, err }: Context,
  value: unknown,
  secret: string,
  note: string,
): Promise<void> {
  await out.print(value, secret);
  err.say(`${note}. It is shown only this once`);
}

/** By id, or by a name that only one of them has. */
export async function findNamed<Item extends { readonly id: string; readonly name: string }>(
  items: AsyncIterable<Item>,
  text: string,
  kind: 'plan' | 'project',
): Promise<Item> {
  const named: Item[] = [];
  for await (const item of items) {
    if (item.id === text.toLowerCase()) return item;
    if (item.name === text) named.push(item);
  }
  const [only, second] = named;
  if (only === undefined)
    throw new CommandError('notFound', `There is no ${kind} "${text}": pakhus ${kind}s list shows them`);
  if (second !== undefined)
    throw new CommandError('misused', `Several ${kind}s have the name "${text}": give the id instead`);
  return only;
}
