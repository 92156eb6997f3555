// The mails to owners of accounts.
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
      `<p>${escaped(asked)}</p>`,
      `<p>${escaped(open)}</p>`,
      `<p><a href="${escaped(link)}">Choose a new password</a></p>`,
      `<p>${escaped(ignore)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => entities[letter] ?? letter);
