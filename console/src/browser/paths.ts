// Folders are strings on files: `a/b/c`, the root is empty.

export const joinFolder = (folder: string, name: string): string =>
  [folder, name].filter((part) => part !== '').join('/');

export interface Crumb {
  readonly name: string;
  readonly folder: string;
}

/** One for each level below the root. */
export function toCrumbs(folder: string): Crumb[] {
  const names = folder === '' ? [] : folder.split('/');
  return names.map((name, index) => ({ name, folder: names.slice(0, index + 1).join('/') }));
}

export const parentOf = (folder: string): string => folder.split('/').slice(0, -1).join('/');

/** The name of the folder directly below `folder` that leads to `inner`; null if it is not below it. */
export function childTowards(folder: string, inner: string): string | null {
  const start = folder === '' ? '' : `${folder}/`;
  if (!inner.startsWith(start) || inner === folder || inner === '') return null;
  return inner.slice(start.length).split('/')[0] ?? null;
}

/** Null if the server would refuse it. */
export function toFolderName(given: string): string | null {
  const name = given.trim().replace(/^\/+|\/+$/g, '');
  const isValid = name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  return isValid && !/\p{Cc}/u.test(name) ? name : null;
}
