// Structured logs: one JSON object per line on stdout. Fields that could hold a secret are cut here, for all callers.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { atEndOfIteration } from '../kernel/async/event-loop.ts';
import { isoOf } from '../kernel/clock.ts';
import { quoted } from '../kernel/text/json.ts';

export interface Logger extends Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  /** The access log line of a request. */
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

/** Shared by all loggers of the process. */
let stdout: DestinationStream | undefined;

export function createLogger(level: string, output?: DestinationStream): Logger {
  stdout ??= createBatchedStdout();
  const destination = output ?? stdout;
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoOf(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }), log: (fields) => cutSecrets(fields, 1) },
      serializers: { err: serializeError },
    },
    destination,
  );
  return Object.assign(log, {
    request(line: RequestLine) {
      if (log.isLevelEnabled('info')) destination.write(formatRequest(line));
    },
  });
}

/**
 * The same line that pino would write, but without checking each field for its type and for secrets, which cost several
 * times as much. Fields that a client controls are escaped.
 */
function formatRequest({ requestId, method, path, status, ms, actor, projectId }: RequestLine): string {
  const caller = actor === undefined ? '' : `,"actor":"${actor}"`;
  const project = projectId === undefined ? '' : `,"project_id":"${projectId}"`;
  return `{"level":"info","time":"${isoOf(Date.now())}","request_id":${quoted(requestId)},"method":"${method}","path":${quoted(path)},"status":${status},"ms":${ms}${caller}${project},"msg":"request"}\n`;
}

/**
 * Only selected fields of an error: libraries attach clients, connections and replies to it, secrets included.
 */
function serializeError(error: unknown): Record<string, unknown> {
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
    ...(cause === undefined ? {} : { cause: serializeError(cause) }),
  };
}

/**
 * Returns the same object if nothing in it is secret, as in most lines: pino's own redaction cost more than the rest of
 * the line. Checks `depth` more levels.
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
 * Joins the lines of one event loop iteration into one write. Lines that are held when the process exits are written
 * then.
 */
function createBatchedStdout(): DestinationStream {
  const sink = pino.destination({ dest: 1, sync: true, maxLength: unwrittenLengthMax });
  // On a full disk, lines are lost and nothing else.
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
