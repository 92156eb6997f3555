// What errors of the file system mean to the disk store.
import { outage, PakhusError } from '../../../kernel/error.ts';

/** Turns a fault of the disk into an outage. Errors for which `isCallers` returns true pass unchanged. */
export async function guardDisk<T>(
  operation: string,
  run: () => Promise<T>,
  isCallers?: () => boolean,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isCallers?.() || codeOf(error) === undefined || error instanceof PakhusError) throw error;
    throw diskOutage(operation, error);
  }
}

export const diskOutage = (operation: string, error: unknown): PakhusError =>
  outage('storage', `The object folder failed at ${operation}`, error);

export const noSuchObject = (): PakhusError => new PakhusError('NOT_FOUND', 'There is no such object');

/** Bytes of an unfinished object that were durable once. Nothing can bring them back. */
export const lostBytes = (): PakhusError =>
  new PakhusError('NOT_FOUND', 'The bytes that were stored so far are lost: start again');

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function isAbsent(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

export function ignore(code: string): (error: unknown) => void {
  return (error) => {
    if (codeOf(error) !== code) throw error;
  };
}

export function absentAs<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isAbsent(error)) return value;
    throw error;
  };
}
