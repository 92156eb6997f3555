// Reads a page of files that are searched for.
import type { ListedFile, UserResource } from '@pakhus/client';

type ListFiles = UserResource['files']['list'];

/** Goes on while a page is empty though there are more: little may match among very many files. */
export async function readFound(
  list: ListFiles,
  query: NonNullable<Parameters<ListFiles>[0]>,
  signal: AbortSignal,
): Promise<{ readonly items: readonly ListedFile[]; readonly next_cursor: string | null }> {
  let page = await list(query, { signal }).page();
  while (page.files.length === 0 && page.next_cursor)
    page = await list({ ...query, cursor: page.next_cursor }, { signal }).page();
  return { items: page.files, next_cursor: page.next_cursor };
}
