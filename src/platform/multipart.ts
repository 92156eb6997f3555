// Reads multipart/form-data as a stream. The only file that knows busboy. Fields are small and gathered; the
// one file part is handed on as it arrives, in whatever order the parts come.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from '@fastify/busboy';
import { invalid, PakhusError } from '../kernel/error.ts';

export interface FilePart {
  readonly filename: string | undefined;
  /** In lower case, without parameters. */
  readonly contentType: string;
  readonly stream: Readable;
}

export type FormFields = ReadonlyMap<string, readonly string[]>;

/**
 * More than one piece of a request's body. The parser never goes on after a part that it skips (one without a
 * name, say) if a single piece of it fills this buffer: the request would hang.
 */
const partBufferBytes = 256 * 1024;

const limits = { fields: 64, parts: 66, fieldSize: 64 * 1024, headerPairs: 32, headerSize: 16 * 1024 };

/** All that a form may hold beside its file. */
export const formBytesMax = limits.parts * (limits.fieldSize + limits.headerSize);

/** How long the parser may look for the end of a body that it has all of. */
const endPatienceMs = 1_000;

export interface FormShape {
  /** The name of the part that holds the file. */
  readonly fileField: string;
  /** Whether a part of this name is a field, also where it was sent as a file. */
  isField(name: string): boolean;
}

/**
 * Resolves to the fields when the whole form has been read. `takeFile` is called as the part named
 * `fileField` begins and must see to it that its stream is read to the end; it is shown the fields that came
 * before, and those that still come.
 */
export function readForm(
  request: IncomingMessage,
  shape: FormShape,
  takeFile: (part: FilePart, fields: FormFields) => void,
  signal: AbortSignal,
): Promise<FormFields> {
  const { fileField } = shape;
  const parser = parserOf(request, shape);
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string[]>();
    const reading = new Set<Readable>();
    let found = false;
    let isOver = false;
    let fault: PakhusError | null = null;
    // The parser waits for ever for the end of a part that has no headers. Once it was given all of the body, and
    // nobody reads a file of it any more, it is at its own end within moments, or never.
    const expectEnd = () => {
      if (!request.readableEnded || reading.size > 0) return;
      setImmediate(() => {
        if (!isOver) setTimeout(() => reject(brokenForm(partWithoutHeaders())), endPatienceMs).unref();
      });
    };
    parser.on('field', (name: string | undefined, value: string, _nameCut: boolean, valueCut: boolean) => {
      if (name === undefined) return;
      if (valueCut) fault ??= formFault(name, `is longer than ${limits.fieldSize} bytes`, 'maxLength');
      fields.set(name, [...(fields.get(name) ?? []), value]);
    });
    parser.on(
      'file',
      (
        name: string,
        stream: Readable,
        filename: string | undefined,
        _encoding: string,
        contentType: string,
      ) => {
        reading.add(stream);
        stream.on('end', () => {
          reading.delete(stream);
          expectEnd();
        });
        if (name === fileField && !found) {
          found = true;
          return takeFile({ filename, contentType, stream }, fields);
        }
        fault ??= formFault(name, `is one file too many: send exactly one, as ${fileField}`, 'count');
        stream.resume();
      },
    );
    const tooMany = () => {
      fault ??= formFault('body', `has more than ${limits.fields} parts`, 'count');
    };
    parser.on('partsLimit', tooMany);
    parser.on('fieldsLimit', tooMany);
    parser.on('error', (error: unknown) => reject(brokenForm(error)));
    parser.on('finish', () => {
      isOver = true;
      if (fault) reject(fault);
      else if (!found)
        reject(formFault(fileField, `is missing: send the file as the part named ${fileField}`, 'required'));
      else resolve(fields);
    });
    request.on('error', (error) => reject(brokenForm(error)));
    request.on('end', expectEnd);
    signal.addEventListener('abort', () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
    request.pipe(parser as unknown as NodeJS.WritableStream);
  });
}

/** The client hung up before its request was complete; there is nobody left to answer. */
export class ClientGone extends PakhusError {
  constructor() {
    super('VALIDATION_ERROR', 'The request ended before its body did');
  }
}

function parserOf(request: IncomingMessage, { fileField, isField }: FormShape) {
  const { 'content-type': contentType = '' } = request.headers;
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw formFault('body', 'has the wrong content type: send multipart/form-data', 'content_type');
  }
  try {
    return new busboy.Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits,
      fileHwm: partBufferBytes,
      // A field sent as a blob has a file name, too: that makes it no file. Nor is one what a browser sends of an
      // input that was left empty, with an empty name.
      isPartAFile: (name, _contentType, filename) =>
        name === fileField || (name !== undefined && Boolean(filename) && !isField(name)),
    });
  } catch (error) {
    throw brokenForm(error);
  }
}

const formFault = (path: string, message: string, code: string): PakhusError =>
  invalid(422, [{ path, message, code }]);

const partWithoutHeaders = () => new Error('a part has no headers, or they have no end');

const brokenForm = (error: unknown): PakhusError =>
  formFault(
    'body',
    `is not valid multipart/form-data: ${String((error as Error).message).slice(0, 120)}`,
    'multipart',
  );
