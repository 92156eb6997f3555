// Sends mails through an SMTP server. Every step has a timeout; a mail to a hanging server is retried later.
import { createTransport } from 'nodemailer';
import type { Mailer } from './mailer.ts';
import { toMessage } from './message.ts';

const connectMs = 10_000;
const idleMs = 20_000;

const openTransport = (url: string) =>
  createTransport({
    url,
    dnsTimeout: connectMs,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: idleMs,
  });

/** Connects and logs in, but sends nothing. Rejects with the reason. */
export async function checkSmtpServer(url: string): Promise<void> {
  const transport = openTransport(url);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

export function createSmtpMailer(url: string, from: string): Mailer {
  const transport = openTransport(url);
  return {
    async send(mail) {
      await transport.sendMail(toMessage(from, mail));
    },
  };
}
