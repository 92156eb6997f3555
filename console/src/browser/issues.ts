// What a validation error says about single fields.

interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Read by their names, because the two files of <pakhus-files> do not share the class of errors. */
const listIssues = (error: unknown): readonly Issue[] =>
  (Object(error) as { details?: { issues?: readonly Issue[] } }).details?.issues ?? [];

/** The API names fields in either case. */
const toKey = (field: string): string => field.replaceAll('_', '').toLowerCase();

/** Of `allowedMimes.1`, the field. */
const toField = ({ path }: Issue): string => toKey(path.split(/[./[]/)[0] ?? '');

export function findIssue(error: unknown, field: string): string | undefined {
  const found = listIssues(error).find((issue) => toField(issue) === toKey(field));
  return found && found.message.charAt(0).toUpperCase() + found.message.slice(1);
}

/** Whether everything that is wrong can be said beside one of these fields. */
export function concernsOnly(error: unknown, fields: readonly string[]): boolean {
  const issues = listIssues(error);
  const known = new Set(fields.map(toKey));
  return issues.length > 0 && issues.every((issue) => known.has(toField(issue)));
}
