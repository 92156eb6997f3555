// Mail in tests: a real SMTP server on loopback, and the outbox folder. Mails are parsed by a library other than the one
// that writes them.

import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { until } from './processes.ts';

export interface MailServer {
  readonly url: string;
  readonly port: number;
  /** Accepted mails, in order. */
  readonly mails: readonly Email[];
  /** Mails whose acceptance is being held back. */
  readonly held: number;
  /** Holds back the acceptance of mails until the returned function is called. */
  hold(): () => void;
  stop(): Promise<void>;
}

export async function startMailServer(port = 0): Promise<MailServer> {
  const mails: Email[] = [];
  let gate: Promise<void> = Promise.resolve();
  let held = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        held += 1;
        await gate;
        held -= 1;
        mails.push(await PostalMime.parse(Buffer.concat(chunks)));
        done();
      });
    },
  });
  // Clients may disconnect at any time.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: chosen } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${chosen}`,
    port: chosen,
    mails,
    get held() {
      return held;
    },
    hold() {
      let release = () => undefined as unknown;
      gate = new Promise((resolve) => {
        release = () => resolve();
      });
      return () => void release();
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Waits for `count` mails to an address. */
export const mailsTo = (server: MailServer, address: string, count = 1): Promise<Email[]> =>
  until(`${count} mails to ${address}`, async () => {
    const found = server.mails.filter(({ to }) => to?.some((one) => one.address === address));
    return found.length >= count && found;
  });

export interface OutboxMail extends Email {
  readonly file: string;
}

export async function readOutbox(dataDir: string): Promise<OutboxMail[]> {
  const folder = join(dataDir, 'outbox');
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml')).sort();
  return Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      return { ...(await PostalMime.parse(await readFile(file))), file };
    }),
  );
}

/** Waits for `count` mails to an address in the outbox. */
export const outboxTo = (dataDir: string, address: string, count = 1): Promise<OutboxMail[]> =>
  until(`${count} mails to ${address} in the outbox`, async () => {
    const mails = await readOutbox(dataDir);
    const found = mails.filter(({ to }) => to?.some((one) => one.address === address));
    return found.length >= count && found;
  });

/** The one link of the text part. */
export function linkOf({ text = '' }: Email): string {
  const links = text.match(/https?:\/\/\S+/g) ?? [];
  if (links.length !== 1) throw new Error(`the mail has ${links.length} links: ${text}`);
  return links[0] as string;
}

export const tokenOf = (mail: Email): string => new URL(linkOf(mail)).searchParams.get('token') ?? '';

/** A page that links can open; it records the URLs. */
export async function startPage(): Promise<{
  url: string;
  opened: URL[];
  stop: () => Promise<void>;
}> {
  const opened: URL[] = [];
  const server: Server = createServer((request, response) => {
    opened.push(new URL(request.url ?? '/', 'http://page'));
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/set-password?from=mail`,
    opened,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
