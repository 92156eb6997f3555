// A mail as nodemailer wants it.
import type { SendMailOptions } from 'nodemailer';
import type { Mail } from './mailer.ts';

export const toMessage = (from: string, mail: Mail): SendMailOptions => ({
  from,
  // As an object: a list of recipients cannot be smuggled into one address.
  to: { name: '', address: mail.to },
  subject: mail.subject,
  text: mail.text,
  html: mail.html,
  date: new Date(mail.writtenAt),
  messageId: `<${mail.id}@pakhus>`,
  // Nobody wants the automatic reply of somebody on holiday.
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});
