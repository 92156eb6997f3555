// Numbers, sizes and times for people. The file browser and the console both use these, so that they show the same text.

/** Of a language tag; undefined for the language of the browser. */
type Locale = string | undefined;

const numberFormats = new Map<string, Intl.NumberFormat>();

/** Formats are kept: to make one takes far longer than to use it, and a list needs one for each row. */
function numberFormat(locale: Locale, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const key = locale + JSON.stringify(options);
  const format = numberFormats.get(key) ?? new Intl.NumberFormat(locale, options);
  numberFormats.set(key, format);
  return format;
}

export const formatNumber = (value: number, locale?: Locale): string => numberFormat(locale).format(value);

export const formatPercent = (percent: number, locale?: Locale): string =>
  numberFormat(locale, { style: 'percent', maximumFractionDigits: percent < 10 ? 1 : 0 }).format(
    percent / 100,
  );

const formatUnit = (
  value: number,
  unit: string,
  maximumFractionDigits: number,
  locale: Locale,
  unitDisplay: 'long' | 'short' = 'short',
): string => numberFormat(locale, { style: 'unit', unit, unitDisplay, maximumFractionDigits }).format(value);

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

/** In powers of 1000, as disks and providers count: 1 MB, 12.3 GB. */
export function formatBytes(count: number, locale?: Locale): string {
  let value = Math.max(0, count);
  let unit = 0;
  // From 999.5 on, rounding would show 1,000.
  while (value >= 999.5 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return formatUnit(value, byteUnits[unit] ?? 'byte', digits, locale, unit === 0 ? 'long' : 'short');
}

/** The largest unit that fits: 40 sec, 3 min, 2 hr. */
export function formatDuration(seconds: number, locale?: Locale): string {
  if (seconds < 60) return formatUnit(Math.max(1, Math.ceil(seconds)), 'second', 0, locale);
  if (seconds < 3600) return formatUnit(Math.ceil(seconds / 60), 'minute', 0, locale);
  return formatUnit(seconds / 3600, 'hour', 1, locale);
}

/** A date and the time of day. */
export const formatTime = (iso: string, locale?: Locale): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));
