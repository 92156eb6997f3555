// Without a mail server, mails become files that only this process's user can read.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Logger } from '../log.ts';
import type { Mailer } from './mailer.ts';
import { messageOf } from './message.ts';

export function createOutbox(folder: string, from: string, log: Logger): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      const { message } = await composer.sendMail(messageOf(from, mail));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, `${mail.writtenAt.replaceAll(':', '-')}-${mail.id}.eml`);
      // Whoever watches the folder sees whole mails only.
      const draft = `${file}.part`;
      await writeFile(draft, message as Buffer, { mode: 0o600 });
      await rename(draft, file);
      log.info({ file }, 'SMTP_URL is not set: a mail was written to the outbox');
    },
  };
}
