// Structured logs: one JSON object a line on stdout. Fields that could hold a secret are cut here, whoever
// logs them.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { isoOf } from '../kernel/clock.ts';
import { atEndOfTurn } from '../kernel/turn.ts';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

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
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoOf(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }), log: (fields) => cutSecrets(fields, 1) },
      serializers: { err: factsOfError },
    },
    output ?? stdout,
  );
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
 * The fields themselves when nothing in them is secret, as in the line of a request: pino's own redaction
 * cost more than the rest of such a line. Looks `depth` levels further down.
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
      if (held === '') atEndOfTurn(flush);
      held += line;
      if (held.length > heldLengthMax) flush();
    },
  };
}
