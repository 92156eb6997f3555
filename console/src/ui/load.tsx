// What is loaded, or what is known instead of it: that it is under way, or why it failed.
import type { ComponentChildren } from 'preact';
import type { Loaded, Pages } from '../browser/load.ts';
import { t } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import { Skeleton } from './parts.tsx';

interface ShowProps<Data> {
  readonly of: Loaded<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** The data, or what is known instead of it. */
export function Show<Data>({ of: { data, error, reload }, children }: ShowProps<Data>) {
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Skeleton />;
  return <>{children(data)}</>;
}

interface ShowPagesProps<Item> {
  readonly of: Pages<Item>;
  readonly empty: ComponentChildren;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}

export function ShowPages<Item>({ of: pages, empty, children }: ShowPagesProps<Item>) {
  const { items, error, hasMore, more, reload } = pages;
  if (error && items === null) return <ErrorNote error={error} onRetry={reload} />;
  if (items === null) return <Skeleton />;
  if (items.length === 0) return <>{empty}</>;
  return (
    <div class="stack">
      {children(items)}
      {error !== null && <ErrorNote error={error} onRetry={hasMore ? more : reload} />}
      {hasMore && !error && (
        <div class="row end">
          <Button onPress={more}>{t.ui.more}</Button>
        </div>
      )}
    </div>
  );
}
