// Switches off a webhook whose receiver is gone or has failed for days, and tells its owner by mail.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { escapeHtml } from '../../kernel/text/html.ts';
import type { Mail } from '../../platform/mail/mailer.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { postMail } from '../mail/mail.service.ts';
import { about } from './webhooks.service.ts';
import { type Leased, type SwitchedOffRow, switchOff } from './webhooks.work.sql.ts';

export type OffReason = 'gone' | 'failing';

const mailMsMax = 3 * 86_400_000;

export async function switchWebhookOff(deps: Deps, lease: Leased, reason: OffReason): Promise<void> {
  const isOff = await deps.db.transaction(async (tx) => {
    const [row] = await tx.query<SwitchedOffRow>(switchOff(lease, reason));
    if (!row) return false;
    const change = { old: { active: true }, new: { active: false, disabled_reason: reason } };
    await recordAudit(tx, stampOf(lease.project_id), about(lease.id, change));
    await postMail(deps, tx, offMail(row, reason), deps.clock() + mailMsMax);
    return true;
  });
  if (isOff) deps.log.info({ webhook_id: lease.id, reason }, 'webhook switched off');
}

/** Nobody asked for it: it counts as the project's own. */
const stampOf = (projectId: string): AuditStamp => ({
  action: 'webhook.update',
  projectId,
  actorType: 'project',
  actorId: projectId,
  actorKeyId: null,
  ipAddress: null,
  userAgent: null,
});

const because: Readonly<Record<OffReason, string>> = {
  gone: 'The receiver answered 410 Gone, which means that it wants no more events.',
  failing: 'Every delivery has failed for 3 days.',
};

function offMail({ url, name, email }: SwitchedOffRow, reason: OffReason): Omit<Mail, 'id' | 'writtenAt'> {
  const what = `Pakhus has switched off a webhook of your project ${name}:`;
  const next =
    'Events are kept for 7 days. If you switch the webhook on again before, it continues with the event at which it stopped. Its deliveries show what went wrong.';
  const otherwise = 'If you do not need it any more, delete it.';
  const paragraphs = [`${what}\n${url}`, because[reason], next, otherwise];
  return {
    to: email,
    subject: 'A webhook was switched off',
    text: `${paragraphs.join('\n\n')}\n`,
    html: [
      '<!doctype html><html lang="en"><body>',
      `<p>${escapeHtml(what)}<br>${escapeHtml(url)}</p>`,
      ...paragraphs.slice(1).map((text) => `<p>${escapeHtml(text)}</p>`),
      '</body></html>',
    ].join('\n'),
  };
}
