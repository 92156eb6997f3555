// The same requests as calls of @pakhus/client.
import { matchPath, type Params } from '../router.tsx';
import type { RecordedRequest } from './record.ts';
import { calls } from './table.ts';

/** As the router writes them: `:name` for a parameter. */
const routes = Object.entries(calls).map(([endpoint, call]) => {
  const [method = '', path = ''] = endpoint.split(' ');
  return { method, pattern: path.replaceAll(/\{(\w+)\}/g, ':$1'), call };
});

interface Match {
  readonly pattern: string;
  readonly call: string;
  readonly params: Params;
}

function findMatch({ method: used, path }: RecordedRequest): Match | null {
  for (const { method, pattern, call } of routes) {
    const params = method === used ? matchPath(pattern, path) : null;
    if (params) return { pattern, call, params };
  }
  return null;
}

export function toCall(request: RecordedRequest): string | null {
  const match = findMatch(request);
  if (!match) return null;
  const call = fill(match.call, match.params, request);
  const isFeed = match.call.endsWith('($feed)');
  return isFeed ? `for await (const event of ${call}) console.log(event);` : `await ${call};`;
}

/** Of several reads by the same call, such as one for each thumbnail, the newest is enough. */
export function withoutRepeats(requests: readonly RecordedRequest[]): readonly RecordedRequest[] {
  const seen = new Set<string>();
  return requests.filter((request) => {
    const pattern = findMatch(request)?.pattern ?? request.path;
    if (request.method !== 'GET') return true;
    if (seen.has(pattern)) return false;
    seen.add(pattern);
    return true;
  });
}

/** Lists are async iterators; their page is what the console reads. */
function fill(call: string, params: Params, { query, body, form }: RecordedRequest): string {
  const { userId, ...rest } = params;
  const values: Record<string, unknown> = { ...Object(body), ...rest };
  const isList = /\.(list|listOf|folders|projects|deliveries|usage)\((.*\$query)?\)$/.test(call);
  const literals: Readonly<Record<string, () => string>> = {
    user: () => `client.user({ id: ${JSON.stringify(userId)} })`,
    query: () => toLiteral(toQuery(query)),
    zip: () => toLiteral(toZip(query)),
    feed: () => toLiteral(toFeedOptions(query)),
    body: () => toLiteral(body),
    form: () => toLiteral(withoutFile(form)),
  };
  // In one pass: what people typed may look like a placeholder.
  const filled = call
    .replace(/\$(\w+)/g, (_all, name: string) => literals[name]?.() ?? JSON.stringify(values[name]))
    .replace(/, \)$/, ')');
  return isList ? `${filled}.page()` : filled;
}

const numbers = /^(limit|size_min|size_max|usage_min)$/;
const booleans = /^(trashed|permanent)$/;

/** In the types that the client takes. A list goes on by itself. */
const toQuery = ({ cursor: _cursor, ...query }: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (numbers.test(name)) return [name, Number(value)];
      return [name, booleans.test(name) ? value === 'true' : value];
    }),
  );

const toZip = ({ ids, ...query }: Readonly<Record<string, string>>) => ({
  ...query,
  ...(ids !== undefined && { ids: ids.split(',') }),
});

/** The client waits by itself, and takes a list of types. */
const toFeedOptions = ({ from, types }: Readonly<Record<string, string>>) => ({
  ...(from && { from }),
  ...(types && { types: types.split(',') }),
});

function withoutFile(form: Readonly<Record<string, string>> | null) {
  const { file: _file, image: _image, ...fields } = form ?? {};
  return fields;
}

/** Empty for nothing, so that the call stays short. */
function toLiteral(value: unknown): string {
  if (value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0))
    return '';
  return JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll(/"([A-Za-z_]\w*)":/g, '$1:');
}
