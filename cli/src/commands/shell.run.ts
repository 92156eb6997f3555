import type { Call } from '../frame/command.ts';
import { completionScript, type Shell } from '../frame/completion.ts';
import { findHelp } from '../frame/help.ts';

export async function help({ arguments: given, context }: Call<unknown, { command: readonly string[] }>) {
  const text = await findHelp(given.command, context.commands, context.prepareServer);
  await context.out.print({ help: text }, text);
}

export async function completion({ arguments: given, context }: Call<unknown, { shell: string }>) {
  await context.out.write(completionScript(given.shell as Shell, context.commands));
}
