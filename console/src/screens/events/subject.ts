// What an event is about, in a few words. Types may be newer than this console, so nothing is taken for granted.
import type { FeedEvent } from '@pakhus/client';
import { t } from '../../texts/texts.ts';
import { formatPercent } from '../../ui/format.ts';

/** Of a file, an upload or a space its name, of a user the external id, of anything else an id. */
const names = ['name', 'external_id', 'file_id', 'id'] as const;

export function describeSubject({ id, data }: Pick<FeedEvent, 'id' | 'data'>): string {
  const fields: Readonly<Record<string, unknown>> = Object(data);
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '');
  const subject = typeof found === 'string' ? found : id;
  return typeof fields.threshold === 'number'
    ? t.events.threshold(subject, formatPercent(fields.threshold))
    : subject;
}
