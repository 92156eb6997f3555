// A list that pages by itself.
import type { Http, Sending } from './http.ts';
import type { AnswerOf, Endpoint } from './types.ts';

interface Paged {
  readonly next_cursor: string | null;
}

/** `for await (const item of list)` goes through everything; `pages()` and `page()` give what the server answers. */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  pages(): AsyncIterable<Page>;
  /** The first page, or the one at the `cursor` of the query. */
  page(): Promise<Page>;
}

/** `itemsOf` picks the items out of a page. */
export function listing<E extends Endpoint, Item>(
  http: Http,
  endpoint: E,
  sending: Sending<E>,
  itemsOf: (page: AnswerOf<E>) => Iterable<Item>,
): Listing<Item, AnswerOf<E>> {
  const read = (cursor?: string | null) =>
    http.call(endpoint, cursor ? { ...sending, query: { ...Object(sending.query), cursor } } : sending);
  async function* pages() {
    let cursor: string | null | undefined;
    do {
      const page: AnswerOf<E> = await read(cursor);
      yield page;
      cursor = (page as Paged).next_cursor;
    } while (cursor);
  }
  return {
    pages,
    page: () => read(),
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* itemsOf(page);
    },
  };
}
