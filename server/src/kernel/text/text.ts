// Text that can be stored: PostgreSQL rejects NUL and unpaired surrogates, and deeply nested JSON overflows the stack
// when it is written.
import type { Issue } from '../error.ts';

const depthMax = 32;

export const isStorableText = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/** The first part of a JSON value that cannot be stored, or null. */
export function findUnstorable(value: unknown, path = '', depth = 0): Issue | null {
  if (typeof value === 'string') return isStorableText(value) ? null : unstorable(path);
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= depthMax) return { path, message: `is nested deeper than ${depthMax} levels`, code: 'depth' };
  for (const [key, inner] of Object.entries(value)) {
    const innerPath = path ? `${path}.${key}` : key;
    if (!isStorableText(key)) return unstorable(path);
    const found = findUnstorable(inner, innerPath, depth + 1);
    if (found) return found;
  }
  return null;
}

const unstorable = (path: string): Issue => ({
  path,
  message: 'contains a NUL character or an unpaired surrogate',
  code: 'text',
});
