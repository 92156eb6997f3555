// Timestamps as callers write them: a date, or a date and time.

import { isoOf } from '../clock.ts';

const pattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:\d\d)?$/i;

/**
 * Milliseconds since the epoch, or null if the text is not a timestamp. Without an offset it is UTC, like every time
 * that the API returns; a date without a time is midnight.
 */
export function parseTimestamp(text: string): number | null {
  const [, day, time = '', offset] = pattern.exec(text) ?? [];
  if (day === undefined || (time === '' && offset !== undefined)) return null;
  const timestamp = Date.parse(time === '' ? day : `${day}${time}${offset ?? 'Z'}`);
  if (Number.isNaN(timestamp)) return null;
  // Date.parse turns 30 February into 1 March, and accepts years that PostgreSQL does not.
  const isDay = new Date(day).toISOString().startsWith(day);
  return isDay && /^(?!0000)\d{4}-/.test(new Date(timestamp).toISOString()) ? timestamp : null;
}

/** In UTC: PostgreSQL refuses some offsets that JavaScript accepts. The text is a valid timestamp. */
export const toUtc = (text: string): string => isoOf(parseTimestamp(text) ?? 0);

/** For a date, the end of that day. */
export const toEndUtc = (text: string): string =>
  /T/i.test(text) ? toUtc(text) : `${text}T23:59:59.999999Z`;
