// Texts with their numbers, sizes and dates in one language.
import { formatBytes, formatDuration, formatNumber, formatTime } from './format.ts';
import { type Catalogue, english, type Plural } from './texts.en.ts';

type Values = Readonly<Record<string, string | number>>;

export type TextKey = keyof Catalogue;

export interface Texts {
  readonly language: string | undefined;
  /** `count` chooses the plural form. */
  t(key: TextKey, values?: Values): string;
  bytes(count: number): string;
  number(value: number): string;
  duration(seconds: number): string;
  /** Short, for lists. */
  date(iso: string): string;
  /** With the time of day. */
  dateTime(iso: string): string;
}

export function createTexts(replaced: Partial<Catalogue> = {}, language?: string): Texts {
  const locale = supported(language);
  const catalogue: Partial<Catalogue> = { ...english, ...replaced };
  const plurals = new Intl.PluralRules(locale);
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const choose = (text: string | Plural, count: unknown): string => {
    if (typeof text === 'string') return text;
    return text[plurals.select(Number(count))] ?? text.other;
  };
  return {
    language: locale,
    t: (key, values = {}) =>
      choose(catalogue[key] ?? key, values.count).replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = values[name];
        return typeof value === 'number' ? formatNumber(value, locale) : (value ?? whole);
      }),
    bytes: (count) => formatBytes(count, locale),
    number: (value) => formatNumber(value, locale),
    duration: (seconds) => formatDuration(seconds, locale),
    date: (iso) => dates.format(new Date(iso)),
    dateTime: (iso) => formatTime(iso, locale),
  };
}

/** Undefined, which means the browser's own, for a language tag that is not one. */
function supported(language: string | undefined): string | undefined {
  try {
    return language ? Intl.getCanonicalLocales(language)[0] : undefined;
  } catch {
    return undefined;
  }
}
