// Runs `pakhus events`.
import type { EventsPage } from '@pakhus/client/node';
import { describeEvent } from '../events/describe.ts';
import { type FeedOptions, handlePages, openPages } from '../events/feed.ts';
import type { Call } from '../frame/command.ts';
import { open } from './results.ts';

export async function events({ options, context }: Call<FeedOptions>) {
  const { client } = await open(context);
  const print = async (page: EventsPage) => {
    for (const event of page.events) await context.out.print(event, () => describeEvent(event));
  };
  return handlePages(context, openPages(client, options, context), print, 'pakhus events');
}
