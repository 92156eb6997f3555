// Runs `pakhus events`.
import type { EventsPage } from '@pakhus/client/node';
import { describeEvent } from '../events/describe.ts';
import { type FeedOptions, handlePages, readOnce, toEventOptions } from '../events/feed.ts';
import type { Call } from '../frame/command.ts';
import { open } from './results.ts';

export async function events({ options, context }: Call<FeedOptions & { readonly once: boolean }>) {
  const { client, signal } = await open(context);
  const wanted = toEventOptions(options, signal);
  const pages = options.once ? readOnce(client, wanted) : client.project.events(wanted).pages();
  const print = async (page: EventsPage) => {
    for (const event of page.events) await context.out.print(event, () => describeEvent(event));
  };
  return handlePages(context, pages, print, 'pakhus events');
}
