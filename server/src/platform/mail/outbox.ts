// Without a mail server, mails are written to files that only this process's user can read.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../log.ts';
import type { Mailer } from './mailer.ts';
import { toMessage } from './message.ts';

export function createOutbox(folder: string, from: string, log: Logger): Mailer {
  let composer: ReturnType<typeof openComposer> | null = null;
  return {
    async send(mail) {
      composer ??= openComposer();
      const { message } = await (await composer).sendMail({
        ...toMessage(from, mail),
        text: readablePart('text/plain', mail.text),
        html: readablePart('text/html', mail.html),
      });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, `${mail.writtenAt.replaceAll(':', '-')}-${mail.id}.eml`);
      // Written under another name and renamed, so that a watcher of the folder sees complete mails only.
      const draft = `${file}.part`;
      await writeFile(draft, message as Buffer, { mode: 0o600 });
      await rename(draft, file);
      log.info({ file }, 'SMTP_URL is not set: a mail was written to the outbox');
    },
  };
}

/** Loaded with the first mail: the service starts faster without it. */
async function openComposer() {
  const { createTransport } = await import('nodemailer');
  return createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
}

/**
 * People open these files in an editor and copy the link. Quoted-printable, which nodemailer picks for long lines, would
 * wrap it and write `=` as `=3D`; no server will ever relay the file, so the text can stay as it is.
 */
const readablePart = (type: string, content: string) => ({
  raw: `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${content.replace(/\r?\n/g, '\r\n')}`,
});
