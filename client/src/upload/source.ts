// Where the bytes of an upload come from, whatever the caller has.
import { PakhusError } from '../error.ts';

export type Chunk = Blob | Uint8Array<ArrayBuffer>;

/** What an upload reads from. `@pakhus/client/node` makes one of a path; anything else with these members will do as well. */
export interface Source {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  /** Null if it is known only at the end. */
  readonly size: number | null;
  /** Whether any part can be read again. Otherwise only bytes from the last offset on can. */
  readonly isSeekable: boolean;
  /** The same for the same content after a reload; without it, an upload cannot be resumed then. */
  readonly fingerprint?: string | undefined;
  /** Resolves to `length` bytes, or fewer at the end. */
  read(offset: number, length: number): Promise<Chunk>;
  /** In hex, where that is cheaper than to read everything at once. */
  sha256?(): Promise<string>;
  close?(): Promise<void>;
}

export type UploadInput =
  | Blob
  | ArrayBuffer
  | ArrayBufferView<ArrayBuffer>
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>
  | Source;

export const sizeOf = (chunk: Chunk): number => (chunk instanceof Blob ? chunk.size : chunk.byteLength);

export const sliceOf = (chunk: Chunk, start: number): Chunk =>
  chunk instanceof Blob ? chunk.slice(start) : chunk.subarray(start);

export const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

export function toSource(input: UploadInput): Source {
  if (typeof input === 'string') return fromBytes(encode(input));
  if (input instanceof ArrayBuffer || ArrayBuffer.isView(input)) {
    const { buffer = input as ArrayBuffer, byteOffset, byteLength } = input as ArrayBufferView<ArrayBuffer>;
    return fromBytes(new Uint8Array(buffer, byteOffset, byteLength));
  }
  if (input instanceof Blob) return fromBlob(input);
  if ('read' in input && 'isSeekable' in input) return input;
  if (input instanceof ReadableStream) return fromPieces(readStream(input));
  if (Symbol.asyncIterator in input) return fromPieces(input);
  throw new PakhusError(
    'INVALID_ARGUMENT',
    'The file must be a Blob, File, ArrayBuffer, string, stream, async iterable or Source',
  );
}

/** Not as a Blob: requests read those as streams, which costs more. */
function fromBytes(given: Uint8Array): Source {
  // The caller may change its own while they are sent.
  const bytes = given.slice();
  return {
    size: bytes.byteLength,
    isSeekable: true,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  };
}

function fromBlob(blob: Blob): Source {
  const { name, lastModified } = blob as Partial<File>;
  return {
    name,
    type: blob.type,
    size: blob.size,
    isSeekable: true,
    fingerprint: name && `${name}:${blob.size}:${lastModified}`,
    read: async (offset, length) => blob.slice(offset, offset + length),
  };
}

/** Not every browser can iterate over a stream. */
async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Keeps what was read until it is stored, so that it can be sent again. */
function fromPieces(pieces: AsyncIterable<Uint8Array | string>): Source {
  const iterator = pieces[Symbol.asyncIterator]();
  let kept = new Uint8Array(0);
  let keptFrom = 0;
  return {
    size: null,
    isSeekable: false,
    async read(offset, length) {
      const parts: Uint8Array[] = [kept.subarray(offset - keptFrom)];
      let bytes = kept.byteLength - (offset - keptFrom);
      while (bytes < length) {
        const { done, value } = await iterator.next();
        if (done) break;
        const piece = typeof value === 'string' ? encode(value) : value;
        parts.push(piece);
        bytes += piece.byteLength;
      }
      kept = join(parts);
      keptFrom = offset;
      return kept.subarray(0, length);
    },
    close: async () => void (await iterator.return?.()),
  };
}

export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}
