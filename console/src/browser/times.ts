// Times as fields of forms have them: of this time zone, to the minute.

const two = (value: number): string => String(value).padStart(2, '0');

export function toLocalTime(iso: string | undefined): string {
  if (iso === undefined) return '';
  const time = new Date(iso);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Throws for a time that is none, or too early. An unchanged field keeps its seconds. */
export function toTime(text: string, before: string | undefined, earliestMs: number): string {
  if (before !== undefined && text === toLocalTime(before)) return before;
  const time = new Date(text);
  if (!(time.getTime() > earliestMs)) throw new RangeError('too early');
  return time.toISOString();
}
