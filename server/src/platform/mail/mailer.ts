// The port to mail. Adapters: smtp.ts for a mail server, outbox.ts for a folder.

export interface Mail {
  /** Names the mail: sent twice, it is still one mail to whoever receives it. */
  readonly id: string;
  readonly writtenAt: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Resolves once the mail is in other hands; rejects when it is not known to be. */
  send(mail: Mail): Promise<void>;
}
