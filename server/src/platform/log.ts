// Structured logs: one JSON object a line on stdout. Fields that could hold a secret are cut here, whoever
// logs them.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { atEndOfIteration } from '../kernel/async/event-loop.ts';
import { isoOf } from '../kernel/clock.ts';
import { quoted } from '../kernel/text/json.ts';

export interface Logger extends Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  /** The line that every request gets. */
  request(line: RequestLine): void;
}

export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly actor: string | undefined;
  readonly projectId: string | undefined;
}

const secretFields: ReadonlySet<string> = new Set([
  'password',
  'token',
  'secret',
  'authorization',
  'cookie',
  'api_key',
  'url',
]);
const censored = '[cut]';

/** One for the process, however many loggers it makes. */
let stdout: DestinationStream | undefined;

export function createLogger(level: string, output?: DestinationStream): Logger {
  stdout ??= gatheredStdout();
  const destination = output ?? stdout;
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoOf(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }), log: (fields) => cutSecrets(fields, 1) },
      serializers: { err: factsOfError },
    },
    destination,
  );
  return Object.assign(log, {
    request(line: RequestLine) {
      if (log.isLevelEnabled('info')) destination.write(textOf(line));
    },
  });
}

/**
 * As pino would write it, field by field: looking at each for its type and for secrets cost several times as much.
 * What a client has chosen is escaped; the rest is of our own making.
 */
function textOf({ requestId, method, path, status, ms, actor, projectId }: RequestLine): string {
  const caller = actor === undefined ? '' : `,"actor":"${actor}"`;
  const project = projectId === undefined ? '' : `,"project_id":"${projectId}"`;
  return `{"level":"info","time":"${isoOf(Date.now())}","request_id":${quoted(requestId)},"method":"${method}","path":${quoted(path)},"status":${status},"ms":${ms}${caller}${project},"msg":"request"}\n`;
}

/**
 * What is worth knowing of an error, and no more: libraries hang their clients, connections and answers on it,
 * secrets included.
 */
function factsOfError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code, detail, status } = error as { code?: unknown; detail?: unknown; status?: unknown };
  const plain = Object.entries({ code, detail, status }).filter(([, value]) =>
    ['string', 'number'].includes(typeof value),
  );
  return {
    type: name,
    message,
    ...Object.fromEntries(plain),
    stack,
    ...(cause === undefined ? {} : { cause: factsOfError(cause) }),
  };
}

/**
 * The fields themselves when nothing in them is secret, as in most lines: pino's own redaction cost more than the rest
 * of a line. Looks `depth` levels further down.
 */
function cutSecrets(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let kept = fields;
  for (const name in fields) {
    const value = fields[name];
    const shown = secretFields.has(name) ? censored : depth > 0 ? cutInside(value, depth) : value;
    if (shown === value || value === undefined) continue;
    if (kept === fields) kept = { ...fields };
    kept[name] = shown;
  }
  return kept;
}

function cutInside(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error || Array.isArray(value))
    return value;
  return cutSecrets(value as Record<string, unknown>, depth - 1);
}

const heldLengthMax = 64 * 1024;
const unwrittenLengthMax = 1024 * 1024;

/**
 * Gathers the lines of one turn of the event loop into one write. Nothing waits longer than that, and what is
 * held when the process exits is written then, for whatever reason it exits.
 */
function gatheredStdout(): DestinationStream {
  const sink = pino.destination({ dest: 1, sync: true, maxLength: unwrittenLengthMax });
  // Nobody may write to a full disk: lines are lost then, and nothing else.
  sink.on('error', () => undefined);
  let held = '';
  const flush = () => {
    if (held !== '') sink.write(held);
    held = '';
  };
  process.once('exit', flush);
  return {
    write(line) {
      if (held === '') atEndOfIteration(flush);
      held += line;
      if (held.length > heldLengthMax) flush();
    },
  };
}
