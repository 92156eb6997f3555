// The port for sending mail. Adapters: smtp.ts for a mail server, outbox.ts for a folder.

export interface Mail {
  /** Message id: a mail that is sent twice is still one mail to its recipient. */
  readonly id: string;
  readonly writtenAt: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Resolves once the mail was accepted; rejects if that is not certain. */
  send(mail: Mail): Promise<void>;
}
