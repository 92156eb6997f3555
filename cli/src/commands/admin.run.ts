// Runs the admin commands of the service.
import type { Call, Context } from '../frame/command.ts';
import { type AdminCommand, loadOperator } from '../server.ts';

export const resetPassword = ({ options, context }: Call<{ email: string | undefined }>) =>
  runAdmin('admin reset-password', options.email, context);

export const disableTwoFactor = ({ options, context }: Call<{ email: string | undefined }>) =>
  runAdmin('admin disable-2fa', options.email, context);

export const exportDatabase = ({ options, context }: Call<{ file: string | undefined }>) =>
  runAdmin('admin export-database', options.file, context);

export const copyObjects = ({ context }: Call) => runAdmin('admin copy-objects', undefined, context);

async function runAdmin(name: AdminCommand, option: string | undefined, context: Context): Promise<void> {
  const { runAdminCommand } = await loadOperator(context.prepareServer);
  await runAdminCommand(name, option ?? null, context.env, {
    say: (line) => void context.out.print({ message: line }, line),
    complain: (line) => context.err.warn(line),
    write: (text) => context.out.write(text),
  });
}
