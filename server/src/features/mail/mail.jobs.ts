// The sending of mails. Waits grow from a second to minutes, for as long as a mail is of use.
import { queued } from '../../contract/job.ts';
import { type MailJob, mailQueue, sendMail } from './mail.service.ts';

export const mailSending = queued<MailJob>({
  name: mailQueue,
  queue: () => ({ retriesMax: 14, retryDelaySeconds: 1, lostAfterSeconds: 90 }),
  // A server that hangs takes one of them, not all.
  concurrency: () => 4,
  run: sendMail,
});
