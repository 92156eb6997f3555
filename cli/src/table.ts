// All commands, in the order of help.
import { accountCommands } from './commands/account.ts';
import { adminCommands } from './commands/admin.ts';
import { eventCommands } from './commands/events.ts';
import { fileCommands } from './commands/files.ts';
import { moreFileCommands } from './commands/more-files.ts';
import { projectCommands } from './commands/project.ts';
import { projectsCommands } from './commands/projects.ts';
import { serviceCommands } from './commands/service.ts';
import { shellCommands } from './commands/shell.ts';
import { variantCommands } from './commands/variants.ts';
import type { Command } from './frame/command.ts';

export const table: readonly Command[] = [
  ...serviceCommands,
  ...adminCommands,
  ...accountCommands,
  ...fileCommands,
  ...moreFileCommands,
  ...projectCommands,
  ...variantCommands,
  ...eventCommands,
  ...projectsCommands,
  ...shellCommands,
];
