// Times that a person gives: so long from now, or a date.
import { CommandError } from '../frame/failure.ts';

const unitMs: Readonly<Record<string, number>> = { m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 };
/** The last year that a date can have. */
const yearMax = 9999;

/** `7d` or a date, as a time that the service takes. `option` is for the message. */
export function parseWhen(text: string, option: string, now = Date.now()): string {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdwy])$/.exec(text) ?? [];
  const date = count === '' ? readDate(text) : addTo(new Date(now), Number(count), unit);
  if (date === null || Number.isNaN(date.getTime()) || date.getUTCFullYear() > yearMax)
    throw new CommandError(
      'misused',
      `${option} ${text} must be a time such as 12h, 7d or 2y, or a date: 2026-12-31`,
    );
  if (date.getTime() <= now) throw new CommandError('misused', `${option} ${text} must be a time to come`);
  return date.toISOString();
}

/** In UTC unless it has an offset, as the service reads it. */
function readDate(text: string): Date | null {
  const found = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?$/i.exec(text);
  if (found === null) return null;
  const [, time, offset] = found;
  return new Date(time !== undefined && offset === undefined ? `${text}Z` : text);
}

/** Years as the calendar has them. */
function addTo(from: Date, count: number, unit: string): Date {
  const date = new Date(from);
  if (unit === 'y') date.setUTCFullYear(date.getUTCFullYear() + count);
  else date.setTime(date.getTime() + count * (unitMs[unit] ?? 0));
  return date;
}
