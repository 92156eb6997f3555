// Semantic folders: `a/b/c`, without slashes at either end; the root is the empty string.

export const folderLengthMax = 512;

/** The normalized folder, or what is wrong with it. */
export function parseFolder(given: string): { folder: string } | { fault: string } {
  const folder = given.replace(/^\/+|\/+$/g, '');
  if ([...folder].length > folderLengthMax)
    return { fault: `must have at most ${folderLengthMax} characters` };
  if (/\p{Cc}/u.test(folder)) return { fault: 'must not contain control characters' };
  const segments = folder === '' ? [] : folder.split('/');
  if (segments.some((segment) => segment === '')) return { fault: 'must not contain empty segments' };
  if (segments.some((segment) => segment === '.' || segment === '..'))
    return { fault: 'must not contain . or .. segments' };
  return { folder };
}
