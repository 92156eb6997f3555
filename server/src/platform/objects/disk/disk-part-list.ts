// Which parts an object on disk consists of, and how clients are told what is wrong with theirs.
import { type Issue, invalid, type PakhusError } from '../../../kernel/error.ts';
import type { StagedPart } from '../staged-objects.ts';

const mebibyte = 1 << 20;
const partBytesMin = 8 * mebibyte;
const partsMax = 10_000;
/** The rest would only repeat them. */
const issuesMax = 20;

export interface ExpectedPart {
  readonly number: number;
  readonly bytes: number;
}

export type Problem = 'missing' | 'size' | 'etag' | 'range' | 'repeated';

/** Of all parts but the last. */
export const partBytesFor = (bytes: number): number =>
  Math.max(partBytesMin, Math.ceil(bytes / partsMax / mebibyte) * mebibyte);

export function listExpected(bytes: number): ExpectedPart[] {
  const partBytes = partBytesFor(bytes);
  return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, at) => ({
    number: at + 1,
    bytes: Math.min(partBytes, bytes - at * partBytes),
  }));
}

/** Every expected part must be listed once, and no other. */
export function assertListed(expected: readonly ExpectedPart[], parts: readonly StagedPart[]): void {
  const seen = new Set<number>();
  const problems: { number: number; problem: Problem }[] = [];
  for (const { number } of parts) {
    if (seen.has(number)) problems.push({ number, problem: 'repeated' });
    else if (!(number >= 1 && number <= expected.length)) problems.push({ number, problem: 'range' });
    seen.add(number);
  }
  for (const { number } of expected) if (!seen.has(number)) problems.push({ number, problem: 'missing' });
  if (problems.length > 0) throw refuse(problems);
}

const advice: Readonly<Record<Problem, string>> = {
  missing: 'is missing: send it to its URL and list it with the etag of the answer',
  size: 'has another length than expected: send it again to a new URL',
  etag: 'is stored with another etag: list the etag of the last answer, or send the part again',
  range: 'does not belong to this object: leave it out',
  repeated: 'is listed twice: list it once',
};

export function refuse(problems: readonly { number: number; problem: Problem }[]): PakhusError {
  const toIssue = ({ number, problem }: { number: number; problem: Problem }): Issue => ({
    path: 'parts',
    message: `part ${number} ${advice[problem]}`,
    code: problem,
  });
  return invalid(422, problems.slice(0, issuesMax).map(toIssue));
}
