// Reads multipart/form-data from a request without intermediate streams. Fields are collected; the file is passed on as
// it arrives. Parts may come in any order.
import type { IncomingMessage } from 'node:http';
import { joined } from '../../kernel/bytes.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';
import { dropped, FormParser, headsBytesMax, type PartSink } from '../../kernel/form/form-parser.ts';
import { decodeText, MalformedForm, type PartHead, parseParameters } from '../../kernel/form/part-head.ts';
import { SmallChunks } from '../../kernel/form/small-chunks.ts';
import { noteChunk } from '../heap.ts';

export type FilePart = Pick<PartHead, 'filename' | 'contentType'>;

export type FormFields = ReadonlyMap<string, readonly string[]>;

const fieldsMax = 64;
const fieldBytesMax = 64 * 1024;
/** Of all fields together, because parsing them blocks the event loop. */
const fieldsBytesMax = 256 * 1024;

/** How much of a refused form is read and dropped, so that its sender can finish and read the error. */
export const droppedBytesMax = 16 * 1024 * 1024;
/** RFC 2046. Searching for a long boundary is slow in data that almost matches it. */
const boundaryLengthMax = 70;

/** The most that a form may hold in addition to its file. */
export const formBytesMax = fieldsBytesMax + headsBytesMax;

export interface FormShape {
  /** The name of the part that holds the file. */
  readonly fileField: string;
  /** Whether a part with this name is a field, even if it was sent as a file. */
  isField(name: string): boolean;
}

/** `fieldsSoFar` are those that came before the file. `cutShort` ends the form: the rest is not read. */
export type TakeFile = (part: FilePart, cutShort: () => void, fieldsSoFar: FormFields) => PartSink;

/** Resolves to the fields when the whole form has been read. `takeFile` is called as the file begins. */
export async function readForm(
  request: IncomingMessage,
  shape: FormShape,
  takeFile: TakeFile,
  signal?: AbortSignal,
): Promise<FormFields> {
  const boundary = parseBoundary(request);
  signal?.throwIfAborted();
  // Even if everything was sent: unread bytes are lost with the connection.
  if (request.destroyed) throw new ClientGone();
  return new Promise((resolve, reject) => {
    // The rest is read and dropped, because the connection's next request comes behind it.
    const end = (settle: () => void) => {
      request.off('data', onData).off('end', onEnd).resume();
      settle();
    };
    const cutShort = () => end(() => resolve(form.fields));
    const form = new Form(shape, (part) => takeFile(part, cutShort, form.fields));
    const parser = new FormParser(boundary, (head) => form.openPart(head));
    const chunks = new SmallChunks((chunk) => parser.write(chunk));
    const guarded = (work: () => void) => {
      try {
        work();
      } catch (error) {
        end(() => reject(error instanceof MalformedForm ? brokenForm(error) : error));
      }
    };
    const onData = (chunk: Buffer) =>
      guarded(() => {
        noteChunk(chunk.length);
        chunks.write(chunk);
        if (parser.isIdle) form.pass(chunk.length);
        form.refuseMore(chunk.length);
      });
    const onEnd = () =>
      guarded(() => {
        chunks.flush();
        parser.end();
        resolve(form.complete());
      });
    request.on('data', onData).on('end', onEnd);
    request.on('error', (error) => reject(brokenForm(error)));
    // Every request closes in the end: create the error only if the body is incomplete.
    request.on('close', () => {
      if (!request.readableEnded) reject(new ClientGone());
    });
    signal?.addEventListener('abort', () => end(() => reject(signal.reason)));
  });
}

/** The parts of one form and the first error in them. */
class Form {
  readonly #shape: FormShape;
  readonly #takeFile: (part: FilePart) => PartSink;
  readonly #fields = new Map<string, string[]>();
  #partsSeen = 0;
  #fieldsBytes = 0;
  #hasFile = false;
  #fault: PakhusError | null = null;
  #bytesSinceFault = 0;
  #bytesPassed = 0;

  constructor(shape: FormShape, takeFile: (part: FilePart) => PartSink) {
    this.#shape = shape;
    this.#takeFile = takeFile;
  }

  /** The fields so far. */
  get fields(): FormFields {
    return this.#fields;
  }

  /** Throws the first error of the form. */
  complete(): FormFields {
    const { fileField } = this.#shape;
    if (this.#fault) throw this.#fault;
    if (this.#hasFile) return this.#fields;
    throw formFault(fileField, `is missing: send the file as the part named ${fileField}`, 'required');
  }

  /** Bounds the bytes outside of parts. */
  pass(bytes: number): void {
    this.#bytesPassed += bytes;
    if (this.#bytesPassed > droppedBytesMax)
      throw this.#fault ?? formFault('body', `has more than ${droppedBytesMax} bytes in no part`, 'size');
  }

  /** Bounds what is read of a form that is refused anyway. */
  refuseMore(bytes: number): void {
    if (!this.#fault) return;
    this.#bytesSinceFault += bytes;
    if (this.#bytesSinceFault > droppedBytesMax) throw this.#fault;
  }

  openPart(head: PartHead): PartSink {
    const { name } = head;
    this.#partsSeen += 1;
    // One more for the file.
    if (this.#partsSeen > fieldsMax + 1)
      return this.#refuse('body', `has more than ${fieldsMax} fields`, 'count');
    if (name === undefined) return dropped;
    if (!this.#isFile(name, head)) return this.#openField(name, head);
    const { fileField } = this.#shape;
    if (name !== fileField && !this.#hasFile)
      return this.#refuse(name, `is not looked for: send the file as the part named ${fileField}`, 'name');
    if (this.#hasFile)
      return this.#refuse(name, `is one file too many: send exactly one, as ${fileField}`, 'count');
    this.#hasFile = true;
    if (head.filename === undefined)
      return this.#refuse(name, 'is a text field: send it as a file, with a file name', 'filename');
    const sink = this.#takeFile(head);
    return head.filename === '' ? this.#unlessLeftEmpty(name, sink) : sink;
  }

  /** If no file was chosen, a browser sends an empty one without a name. */
  #unlessLeftEmpty(name: string, sink: PartSink): PartSink {
    let bytes = 0;
    return {
      write: (piece) => {
        bytes += piece.length;
        sink.write(piece);
      },
      end: () => {
        if (bytes === 0) this.#refuse(name, 'is empty and has no name: choose a file', 'required');
        sink.end();
      },
    };
  }

  /**
   * A field sent as a blob has a file name but is not a file. Neither is an empty file input, which browsers send with an
   * empty name.
   */
  #isFile(name: string, { filename }: PartHead): boolean {
    return name === this.#shape.fileField || (Boolean(filename) && !this.#shape.isField(name));
  }

  #openField(name: string, { contentType }: PartHead): PartSink {
    const pieces: Buffer[] = [];
    let bytes = 0;
    return {
      write: (piece) => {
        bytes += piece.length;
        this.#fieldsBytes += piece.length;
        if (bytes > fieldBytesMax) this.#refuse(name, `is longer than ${fieldBytesMax} bytes`, 'maxLength');
        else if (this.#fieldsBytes > fieldsBytesMax)
          this.#refuse(
            'body',
            `has more than ${fieldsBytesMax} bytes of fields beside the file`,
            'maxLength',
          );
        else pieces.push(piece);
      },
      end: () => {
        const value = decodeField(joined(pieces), contentType);
        const earlier = this.#fields.get(name);
        if (earlier) earlier.push(value);
        else this.#fields.set(name, [value]);
      },
    };
  }

  /** The first error is reported once the form has been read. */
  #refuse(path: string, message: string, code: string): PartSink {
    this.#fault ??= formFault(path, message, code);
    return dropped;
  }
}

/** UTF-8, unless the part names another known charset. */
function decodeField(bytes: Buffer, contentType: string): string {
  const charset = parseParameters(contentType).get('charset');
  return (charset === undefined ? null : decodeText(bytes, charset)) ?? bytes.toString('utf8');
}

/** The client hung up before its request was complete. */
export class ClientGone extends PakhusError {
  constructor() {
    super('VALIDATION_ERROR', 'The request ended before its body did');
  }
}

function parseBoundary({ headers: { 'content-type': contentType = '' } }: IncomingMessage): string {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType))
    throw formFault('body', 'has the wrong content type: send multipart/form-data', 'content_type');
  const boundary = parseParameters(contentType).get('boundary');
  if (!boundary) throw brokenForm(new Error('its content type names no boundary'));
  if (boundary.length > boundaryLengthMax)
    throw brokenForm(new Error(`its boundary is longer than ${boundaryLengthMax} characters`));
  return boundary;
}

const formFault = (path: string, message: string, code: string): PakhusError =>
  invalid(422, [{ path, message, code }]);

const brokenForm = (error: Error): PakhusError =>
  formFault('body', `is not valid multipart/form-data: ${error.message.slice(0, 120)}`, 'multipart');
