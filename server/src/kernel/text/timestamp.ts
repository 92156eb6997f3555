// Moments as a caller writes them: a date, or a date and time.

const pattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:\d\d)?$/i;

/**
 * Milliseconds since the epoch, or null for what is no moment. Without an offset it is UTC, as every time is that the
 * service itself prints; a date is the moment when it begins.
 */
export function readMoment(text: string): number | null {
  const [, day, time = '', offset] = pattern.exec(text) ?? [];
  if (day === undefined || (time === '' && offset !== undefined)) return null;
  const moment = Date.parse(time === '' ? day : `${day}${time}${offset ?? 'Z'}`);
  if (Number.isNaN(moment)) return null;
  // Date.parse rolls the 30th of February over, and reads years that PostgreSQL does not.
  const isDay = new Date(day).toISOString().startsWith(day);
  return isDay && /^(?!0000)\d{4}-/.test(new Date(moment).toISOString()) ? moment : null;
}
