// Structured logs: one JSON object a line on stdout. Fields that could hold a secret are cut here, whoever
// logs them.
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

const secretFields = ['password', 'token', 'secret', 'authorization', 'cookie', 'api_key', 'url'];

export function createLogger(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[cut]' },
  });
}
