// Percent-encoding as RFC 3986 has it: encodeURIComponent leaves five characters alone that it reserves.

const reserved: Readonly<Record<string, string>> = {
  '!': '%21',
  "'": '%27',
  '(': '%28',
  ')': '%29',
  '*': '%2A',
};

export const encodeRfc3986 = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => reserved[mark] as string);
