// Runs `pakhus webhooks listen`.
import { createHmac } from 'node:crypto';
import type { EventsPage } from '@pakhus/client/node';
import { signWebhook } from '@pakhus/client/webhooks';
import { connect } from '../connection.ts';
import { type FeedOptions, handlePages, openPages } from '../events/feed.ts';
import { type Attempt, forward, type Receiver } from '../events/forward.ts';
import type { Call } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';

interface ListenOptions extends FeedOptions {
  readonly forward: string | undefined;
  readonly secret: string | undefined;
}

export async function listen({ options, context }: Call<ListenOptions>) {
  const { out, err, signal } = context;
  const url = parseReceiver(options.forward);
  const { client, target } = await connect(context);
  const receiver = { url, secret: await checkSecret(options.secret ?? deriveSecret(target.key)) };
  const pages = openPages(client, options, context);
  let isFollowing = false;
  const forwardPage = async ({ events }: EventsPage) => {
    // Not before the service has answered: from then on no event is missed.
    if (!isFollowing) await out.print(receiver, () => describeReceiver(receiver));
    isFollowing = true;
    for (const event of events)
      for await (const attempt of forward(receiver, event, signal))
        await out.print(attempt, () => describeAttempt(attempt));
  };
  if (!options.once) err.say('Ctrl-C ends it');
  return handlePages(context, pages, forwardPage, `pakhus webhooks listen --forward ${url}`);
}

function parseReceiver(text: string | undefined): string {
  if (text === undefined)
    throw new CommandError('misused', 'Say where the receiver is: --forward http://localhost:3001/hook');
  const { protocol, href } = URL.canParse(text) ? new URL(text) : { protocol: '', href: '' };
  if (!/^https?:$/.test(protocol))
    throw new CommandError('misused', `--forward ${text} must be a URL that begins with http:// or https://`);
  return href;
}

/** The same for the same key, so that the receiver can keep it. */
const deriveSecret = (key: string): string =>
  `whsec_${createHmac('sha256', key).update('pakhus webhooks listen').digest('base64')}`;

async function checkSecret(secret: string): Promise<string> {
  await signWebhook('', secret, { id: 'check' }).catch((error) => {
    throw new CommandError('misused', '--secret must be base64 after whsec_', { cause: error });
  });
  return secret;
}

const describeReceiver = ({ url, secret }: Receiver): string =>
  `Forwarding events to ${url}, signed with ${secret}`;

const describeAttempt = (attempt: Attempt): string =>
  [
    String(attempt.response_status ?? '---'),
    `${attempt.duration_ms} ms`.padStart(8),
    attempt.type.padEnd(15),
    attempt.event_id,
    ...(attempt.error === null ? [] : [attempt.error, describeNext(attempt.next_try_ms)]),
  ].join('  ');

const describeNext = (ms: number | null): string => (ms === null ? 'given up' : `again in ${ms / 1000} s`);
