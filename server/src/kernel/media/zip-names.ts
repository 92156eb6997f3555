// Names for the entries of a zip that every system can unpack: relative, without traversal, and no two that a file system
// could take for the same.

/** A file as its owner sees it. */
export interface NamedFile {
  /** `a/b`, without slashes at either end; empty for the root. */
  readonly folder: string;
  readonly name: string;
}

/** Most file systems allow 255; the rest is left for a number. */
const segmentBytesMax = 240;
/** Names of devices on Windows, with any extension. */
const deviceName = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)/i;
/** Controls, separators and what Windows reserves; also marks that reverse the direction of text and so disguise extensions. */
const unsafe = /[\p{Cc}\p{Cs}<>:"|?*\\/\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** One name for each file, in the same order. The first of several equal names stays, the others are numbered. */
export function buildZipNames(files: readonly NamedFile[]): string[] {
  const names = new TakenNames(files.map(({ folder }) => safeFolder(folder)));
  return files.map(({ folder, name }) => {
    const parent = safeFolder(folder);
    return names.take(parent === '' ? safeSegment(name) : `${parent}/${safeSegment(name)}`);
  });
}

class TakenNames {
  readonly #files = new Set<string>();
  /** Sorted: folders below another one are adjacent. */
  readonly #folders: readonly string[];
  readonly #nextNumbers = new Map<string, number>();

  constructor(folders: readonly string[]) {
    this.#folders = [...new Set(folders.map((folder) => `${toKey(folder)}/`))].sort();
  }

  /** The path, with a number if it is taken. */
  take(path: string): string {
    const key = toKey(path);
    let free = path;
    // Begins where the last file of this name ended: thousands with the same name take one step each.
    let number = this.#nextNumbers.get(key) ?? 2;
    for (; this.#isTaken(toKey(free)); number += 1) free = numbered(path, number);
    this.#nextNumbers.set(key, number);
    this.#files.add(toKey(free));
    return free;
  }

  /** A file must not have the name of a folder beside it either. */
  #isTaken(key: string): boolean {
    return this.#files.has(key) || this.#findFolder(`${key}/`).startsWith(`${key}/`);
  }

  /** The first that is not before `folder`. */
  #findFolder(folder: string): string {
    let low = 0;
    let high = this.#folders.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#folders[middle] ?? '') < folder) low = middle + 1;
      else high = middle;
    }
    return this.#folders[low] ?? '';
  }
}

/** Before the extension: `a (2).txt`. */
function numbered(path: string, number: number): string {
  const [stem, extension] = splitExtension(path);
  return `${stem} (${number})${extension}`;
}

function splitExtension(path: string): [stem: string, extension: string] {
  const dot = path.lastIndexOf('.');
  const isExtension = dot > path.lastIndexOf('/') + 1 && path.length - dot <= 20;
  return isExtension ? [path.slice(0, dot), path.slice(dot)] : [path, ''];
}

const safeFolder = (folder: string): string =>
  folder
    .split('/')
    .filter((segment) => segment !== '')
    .map(safeSegment)
    .join('/');

function safeSegment(given: string): string {
  const plain = given.normalize('NFC').replace(unsafe, '_');
  // Windows drops dots and spaces at the end, which could also make two names equal.
  const ended = plain.replace(/[. ]+$/, (end) => '_'.repeat(end.length));
  const named = ended.trimStart() === '' ? '_' : ended.replace(deviceName, '_$1');
  return shorten(named);
}

/** Keeps the extension. */
function shorten(segment: string): string {
  if (Buffer.byteLength(segment) <= segmentBytesMax) return segment;
  const [stem, extension] = splitExtension(segment);
  const letters = [...stem];
  let bytes = Buffer.byteLength(segment);
  while (bytes > segmentBytesMax && letters.length > 1) bytes -= Buffer.byteLength(letters.pop() ?? '');
  return letters.join('') + extension;
}

/** Equal for names that some file system takes for the same: those of macOS and Windows ignore case. */
const toKey = (path: string): string => path.toLowerCase().normalize('NFC');
