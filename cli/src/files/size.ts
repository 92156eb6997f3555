// Sizes as people type them.
import { CommandError } from '../frame/failure.ts';

const factors: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  kib: 2 ** 10,
  m: 1e6,
  mb: 1e6,
  mib: 2 ** 20,
  g: 1e9,
  gb: 1e9,
  gib: 2 ** 30,
  t: 1e12,
  tb: 1e12,
  tib: 2 ** 40,
};

export function parseSize(text: string, source: string): number {
  const [, number = '', unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?) ?([a-z]*)$/i.exec(text.trim()) ?? [];
  const factor = factors[unit.toLowerCase()];
  const bytes = Math.round(Number(number) * (factor ?? Number.NaN));
  if (number === '' || !Number.isSafeInteger(bytes))
    throw new CommandError('misused', `${source} must be a size such as 500MB or 10GiB`);
  return bytes;
}
