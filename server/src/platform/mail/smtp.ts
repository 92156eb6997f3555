// Sends mails through an SMTP server. Every step has a timeout; a mail to a hanging server is retried later.
import { createTransport } from 'nodemailer';
import type { Mailer } from './mailer.ts';
import { toMessage } from './message.ts';

const connectMs = 10_000;
const idleMs = 20_000;

export function createSmtpMailer(url: string, from: string): Mailer {
  const transport = createTransport({
    url,
    dnsTimeout: connectMs,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: idleMs,
  });
  return {
    async send(mail) {
      await transport.sendMail(toMessage(from, mail));
    },
  };
}
