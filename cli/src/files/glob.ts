// Patterns for names: * and ? within a segment, [abc], and ** for any number of folders. A backslash takes the next
// character literally.
import type { Named, Tree, TreeEntry } from './walk.ts';

export const isPattern = (text: string): boolean => /(^|[^\\])[*?[]/.test(text);

/** The text that a pattern without special characters stands for. */
export const unescapePattern = (text: string): string => text.replace(/\\([*?[\]\\])/g, '$1');

/** The folder above the first segment with a pattern, and the segments from there on. */
export function splitPattern(path: string): { readonly base: string; readonly segments: readonly string[] } {
  const all = path.split('/');
  const first = all.findIndex(isPattern);
  const plain = first < 0 ? all.length - 1 : first;
  return { base: all.slice(0, plain).map(unescapePattern).join('/'), segments: all.slice(plain) };
}

/** Matches one segment. As in shells, a name with a leading dot needs a leading dot in the pattern. */
export function toMatcher(segment: string): (name: string) => boolean {
  const expression = new RegExp(`^${translate(segment)}$`, 'su');
  const wantsDot = segment.startsWith('.') || segment.startsWith('\\.');
  return (name) => expression.test(name) && (wantsDot || !name.startsWith('.'));
}

function translate(segment: string): string {
  let result = '';
  for (let i = 0; i < segment.length; i += 1) {
    const char = segment.charAt(i);
    if (char === '\\' && i + 1 < segment.length) {
      i += 1;
      result += escapeChar(segment.charAt(i));
    } else if (char === '*') result += '[^/]*';
    else if (char === '?') result += '[^/]';
    else if (char === '[') {
      const end = segment.indexOf(']', i + 2);
      if (end < 0) result += escapeChar(char);
      else {
        result += translateClass(segment.slice(i + 1, end));
        i = end;
      }
    } else result += char.charCodeAt(0) < 128 ? escapeChar(char) : char;
  }
  // A single asterisk backtracks linearly, a row of them does not.
  return result.replaceAll(/(\[\^\/\]\*)+/g, '[^/]*');
}

function translateClass(inside: string): string {
  const isNegated = /^[!^]/.test(inside);
  const members = (isNegated ? inside.slice(1) : inside).replaceAll(/[\\\]^[]/g, '\\$&');
  return `[${isNegated ? '^' : ''}${members}]`;
}

const escapeChar = (char: string): string => (/[\^$\\.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char);

/** What matches the segments, below a folder. `**` also matches nothing. */
export async function* findMatches<Folder extends Named, File extends Named>(
  tree: Tree<Folder, File>,
  base: Folder,
  segments: readonly string[],
): AsyncGenerator<TreeEntry<Folder, File>> {
  const [segment = '', ...rest] = segments;
  if (segment === '**' && rest.length > 0) yield* findMatches(tree, base, rest);
  const matches = toMatcher(segment === '**' ? '*' : segment);
  for await (const entry of tree.list(base)) {
    if ('folder' in entry) {
      if (!matches(entry.folder.name)) continue;
      if (segment === '**') yield* findMatches(tree, entry.folder, segments);
      else if (rest.length > 0) yield* findMatches(tree, entry.folder, rest);
      else yield entry;
    } else if (rest.length === 0 && matches(entry.file.name)) yield entry;
  }
}
