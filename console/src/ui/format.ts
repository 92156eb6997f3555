// Numbers, sizes and times for people, in the language of the page.
import * as format from '../browser/format.ts';

const language = (): string | undefined => document.documentElement.lang || undefined;

export const formatNumber = (value: number): string => format.formatNumber(value, language());

export const formatPercent = (percent: number): string => format.formatPercent(percent, language());

export const formatBytes = (count: number): string => format.formatBytes(count, language());

export const formatTime = (iso: string): string => format.formatTime(iso, language());

/** With seconds. */
export const formatMoment = (iso: string): string =>
  new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(iso));

export const formatClock = (time: Date): string =>
  new Intl.DateTimeFormat(language(), { timeStyle: 'short' }).format(time);

export const formatDay = (iso: string): string =>
  new Intl.DateTimeFormat(language(), { month: 'short', day: 'numeric', timeZone: 'UTC' }).format(
    new Date(iso),
  );

const spans = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** "3 hours ago", "in 15 minutes". */
export function formatRelative(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const relative = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' });
  for (const [unit, length] of spans)
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  return relative.format(Math.abs(seconds) < 10 ? 0 : seconds, 'second');
}

/** A stranger's text inside a sentence of ours: its direction must not reach the words around it. */
export const isolate = (text: string): string =>
  `\u2068${text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')}\u2069`;
