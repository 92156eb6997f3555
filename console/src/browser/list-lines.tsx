// The lines of the list that are not one entry: the head, a row of tiles, a placeholder, and an error with a way to retry.
// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus moves by row or tile, not by cell
import { useBrowsing } from './context.ts';
import { ErrorView } from './error-view.tsx';
import { type ItemProps, Tile } from './row.tsx';

export function Head() {
  const { t } = useBrowsing();
  return (
    <div role="row" class="head" aria-rowindex={1}>
      <span role="columnheader" class="cell-check" aria-label={t('select')} />
      <span role="columnheader" class="cell-name">
        {t('name')}
      </span>
      <span role="columnheader" class="cell-size">
        {t('size')}
      </span>
      <span role="columnheader" class="cell-date">
        {t('changed')}
      </span>
      <span role="columnheader" class="cell-more" aria-label={t('actions')} />
    </div>
  );
}

const move = (top: number) => ({ transform: `translateY(${top}px)` });

interface TileLineProps {
  readonly row: number;
  readonly top: number;
  readonly columns: number;
  readonly itemProps: (index: number) => ItemProps | undefined;
}

export const TileLine = ({ row, top, columns, itemProps }: TileLineProps) => (
  <div
    role="row"
    class="line"
    aria-rowindex={row + 1}
    style={{ ...move(top), gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
  >
    {Array.from({ length: columns }, (_, column) => {
      const props = itemProps(row * columns + column);
      return props ? (
        <Tile key={props.entry.key} {...props} />
      ) : (
        <span key={column} role="gridcell" class="tile is-skeleton" />
      );
    })}
  </div>
);

export const SkeletonLine = ({ top }: { readonly top: number }) => (
  <div role="row" class="row is-skeleton" aria-hidden="true" style={move(top)}>
    <span role="gridcell" class="cell-check" />
    <span role="gridcell" class="cell-name">
      <span class="bone" />
    </span>
  </div>
);

export function FailedLine({ top }: { readonly top: number }) {
  const { model, t } = useBrowsing();
  return (
    <div role="row" class="row is-failed" style={move(top)}>
      <span role="gridcell">
        <ErrorView
          title={t('loadFailed')}
          error={model.listing.error.value}
          onRetry={() => model.listing.loadMore()}
        />
      </span>
    </div>
  );
}
