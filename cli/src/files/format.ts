// Numbers as people read them.

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const formatCount = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

/** To the minute, in UTC, the same on every machine. */
export const formatTime = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

/** Names come from others: escape sequences in them must not reach the terminal. */
export const printable = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
