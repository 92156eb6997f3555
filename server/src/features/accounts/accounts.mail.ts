// The mails to owners of accounts.
import { escapeHtml } from '../../kernel/text/html.ts';
import type { Mail } from '../../platform/mail/mailer.ts';

export function resetMail(to: string, link: string, minutes: number): Omit<Mail, 'id' | 'writtenAt'> {
  const asked = `Somebody requested a new password for the Pakhus account ${to}.`;
  const open = `If it was you, open this link within ${minutes} minutes. It works once:`;
  const ignore = 'If it was not you, do nothing: the password stays as it is.';
  return {
    to,
    subject: 'Your new Pakhus password',
    text: `${[asked, `${open}\n${link}`, ignore].join('\n\n')}\n`,
    html: [
      '<!doctype html><html lang="en"><body>',
      `<p>${escapeHtml(asked)}</p>`,
      `<p>${escapeHtml(open)}</p>`,
      `<p><a href="${escapeHtml(link)}">Choose a new password</a></p>`,
      `<p>${escapeHtml(ignore)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}
