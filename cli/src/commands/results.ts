// What the commands that manage things share: the client, and how a secret is printed.
import type { Client } from '@pakhus/client/node';
import { connect } from '../connection.ts';
import type { Context } from '../frame/command.ts';

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
