// Tells faults of the store from those of the body and of the caller, for everything that the S3 store does.
import { outage, PakhusError } from '../../../kernel/error.ts';
import { type BodyReader, createBodyReader, notingFaults } from '../body-reader.ts';
import type { Body } from '../object-store.ts';
import { PushedBody } from '../pushed-body.ts';
import { isStoreFault } from './s3-fault.ts';

/** Store and network errors become an outage; the caller's abort and our own bugs pass unchanged. */
export async function guardStore<T>(
  operation: string,
  run: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    signal?.throwIfAborted();
    if (!isStoreFault(error)) throw error;
    throw outage('storage', `The object store failed at ${operation}`, error);
  }
}

/** Rethrows an error, and makes it pass unchanged: it is not the store's, whatever it looks like. */
export type TellCallers = (error: unknown) => never;

/** The same while a body is read, whose own errors pass unchanged. The body is destroyed if it was not read to its end. */
export async function guardBody<T>(
  operation: string,
  body: Body,
  run: (reader: BodyReader, tellCallers: TellCallers) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let callersFault: { readonly error: unknown } | undefined;
  const note = (error: unknown) => {
    callersFault = { error };
  };
  const tellCallers = (error: unknown): never => {
    note(error);
    throw error;
  };
  const source = Buffer.isBuffer(body) ? toPushedBody(body) : body;
  const reader = notingFaults(createBodyReader(source, signal), note);
  try {
    return await guardStore(operation, () => run(reader, tellCallers), signal);
  } catch (error) {
    throw callersFault ? callersFault.error : error;
  } finally {
    reader.close();
  }
}

export const noSuchObject = (cause?: unknown): PakhusError =>
  new PakhusError('NOT_FOUND', 'There is no such object', { cause });

function toPushedBody(bytes: Buffer): PushedBody {
  const body = new PushedBody(() => undefined);
  body.push(bytes);
  body.end();
  return body;
}
