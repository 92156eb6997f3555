// Percent-encoding of RFC 3986, which also encodes five characters that encodeURIComponent leaves alone.

const reserved: Readonly<Record<string, string>> = {
  '!': '%21',
  "'": '%27',
  '(': '%28',
  ')': '%29',
  '*': '%2A',
};

export const encodeRfc3986 = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => reserved[mark] as string);
