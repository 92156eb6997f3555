// Converts a mail to nodemailer's format.
import type { SendMailOptions } from 'nodemailer';
import type { Mail } from './mailer.ts';

export const toMessage = (from: string, mail: Mail): SendMailOptions => ({
  from,
  // As an object, so that one address cannot smuggle in a list of recipients.
  to: { name: '', address: mail.to },
  subject: mail.subject,
  text: mail.text,
  html: mail.html,
  date: new Date(mail.writtenAt),
  messageId: `<${mail.id}@pakhus>`,
  // Suppresses automatic replies.
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});
