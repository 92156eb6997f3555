// Content codings: which of several compressed forms a client gets, by its Accept-Encoding.

/** In the order in which they are preferred. */
export const contentCodings = ['br', 'gzip'] as const;

export type ContentCoding = (typeof contentCodings)[number];

/** Null for the plain form. A client that refuses that, too, still gets it: better than nothing. */
export function chooseCoding(
  acceptEncoding: string | undefined,
  has: (coding: ContentCoding) => boolean,
): ContentCoding | null {
  const weights = parseWeights(acceptEncoding ?? '');
  const weigh = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  let best: ContentCoding | null = null;
  // Every client accepts the plain form unless it says otherwise, but wants a coding that it names rather than that.
  let bestWeight = weights.get('identity') ?? 0;
  for (const coding of [...contentCodings].reverse())
    if (has(coding) && weigh(coding) > 0 && weigh(coding) >= bestWeight) {
      best = coding;
      bestWeight = weigh(coding);
    }
  return best;
}

/** A weight that is no number counts as 0: the coding is not sent. */
function parseWeights(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim());
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = given === undefined ? 1 : Number(given.slice(2)) || 0;
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, weight);
  }
  return weights;
}
