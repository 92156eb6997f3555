// A list in a dialog: its entries with what can be done with each, and a button for the next page.
import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { ErrorView } from '../error-view.tsx';
import type { Loaded, Pages } from '../load.ts';

interface ShowPagesProps<Item> {
  readonly of: Pages<Item>;
  readonly label: string;
  readonly empty: string;
  readonly keyOf: (item: Item) => string;
  readonly children: (item: Item) => ComponentChildren;
}

export function ShowPages<Item>({ of: pages, label, empty, keyOf, children }: ShowPagesProps<Item>) {
  const { t } = useBrowsing();
  const { items, error, hasMore, more, reload } = pages;
  return (
    <>
      {items?.length === 0 && <p class="soft">{empty}</p>}
      {items && items.length > 0 && (
        <ul class="entries" aria-label={label}>
          {items.map((item) => (
            <li key={keyOf(item)}>{children(item)}</li>
          ))}
        </ul>
      )}
      {error !== null && (
        <ErrorView error={error} onRetry={() => void (items && hasMore ? more : reload)()} />
      )}
      {items === null && error === null && <p class="soft">{t('loading')}</p>}
      {hasMore && error === null && (
        <div>
          <Button onPress={() => void more()}>{t('showMore')}</Button>
        </div>
      )}
    </>
  );
}

interface ShowProps<Data> {
  readonly of: Loaded<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

export function Show<Data>({ of: { data, error, reload }, children }: ShowProps<Data>) {
  const { t } = useBrowsing();
  if (error !== null) return <ErrorView error={error} onRetry={() => void reload()} />;
  if (data === null) return <p class="soft">{t('loading')}</p>;
  return <>{children(data)}</>;
}

/** Below the name of an entry. Each is isolated: a folder may be named in another direction. */
export const Facts = ({ items }: { readonly items: readonly (string | false | null | undefined)[] }) => (
  <small>
    {items.filter(Boolean).map((fact, index) => (
      <span key={fact}>
        {index > 0 && ' · '}
        <bdi>{fact}</bdi>
      </span>
    ))}
  </small>
);
