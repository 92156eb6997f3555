// Sends mails, with a back-off from one second to minutes, until they expire.
import { queued } from '../../contract/job.ts';
import { type MailJob, mailQueue, sendMail } from './mail.service.ts';

export const mailSending = queued<MailJob>({
  name: mailQueue,
  queue: () => ({ retriesMax: 14, retryDelaySeconds: 1, lostAfterSeconds: 90 }),
  // A mail server that hangs blocks one worker, not all.
  concurrency: () => 4,
  run: sendMail,
});
