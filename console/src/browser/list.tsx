// The entries as a table or as tiles. Only those in view are in the page, and the one that has the focus.
// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus moves by row or tile, not by cell
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useBrowsing } from './context.ts';
import { isNarrow, layoutFor } from './layout.ts';
import { createListEvents } from './list-events.ts';
import { FailedLine, Head, SkeletonLine, TileLine } from './list-lines.tsx';
import { Row } from './row.tsx';
import { type Rows, useRows } from './rows.ts';

type ListRef = { readonly current: HTMLElement | null };

/** Rows below the last entry while more are loaded. */
const placeholders = 12;
/** The next page is asked for when this many entries are left below the view. */
const loadAhead = 100;

export function FileList() {
  const browsing = useBrowsing();
  const { model, t } = browsing;
  const { listing } = model;
  const scroller = useRef<HTMLDivElement>(null);
  const view = model.view.value;
  const layout = useListLayout(scroller);
  const { shown, columns, rowHeight, rows } = layout;
  const entryCount = listing.entries.length;
  useLoadAhead(shown.end * columns);
  useFocus(scroller, layout);
  const events = createListEvents(browsing, () => ({
    count: entryCount,
    columns,
    pageRows: Math.max(1, Math.floor(shown.height / rowHeight) - 1),
    isRightToLeft: scroller.current !== null && getComputedStyle(scroller.current).direction === 'rtl',
  }));
  const headRows = view === 'list' ? 1 : 0;
  return (
    <div
      role="grid"
      class={`list is-${view} ${isNarrow(shown.width) ? 'is-narrow' : ''}`}
      part="list"
      aria-label={t('files')}
      aria-multiselectable="true"
      aria-rowcount={listing.isComplete.value ? Math.ceil(entryCount / columns) + headRows : -1}
      aria-busy={listing.status.value === 'loading'}
      {...events}
    >
      {view === 'list' && <Head />}
      <div role="rowgroup" class="scroller" ref={scroller}>
        <div role="none" class="canvas" style={{ height: `${rows * rowHeight}px` }}>
          <Lines {...layout} />
        </div>
      </div>
    </div>
  );
}

interface ListLayout {
  readonly shown: Rows;
  readonly columns: number;
  readonly rowHeight: number;
  readonly rows: number;
}

function useListLayout(scroller: ListRef): ListLayout {
  const { listing, view } = useBrowsing().model;
  void listing.version.value;
  const layout = (width: number) => {
    const { columns, rowHeight } = layoutFor(view.value, width);
    const missing = listing.isComplete.value ? 0 : listing.status.value === 'failed' ? 2 : placeholders;
    return { columns, rowHeight, rows: Math.ceil(listing.entries.length / columns + missing) };
  };
  const shown = useRows(scroller, layout);
  return { shown, ...layout(shown.width) };
}

function useLoadAhead(shownEnd: number): void {
  const { listing } = useBrowsing().model;
  useLayoutEffect(() => {
    if (listing.status.peek() === 'ready' && shownEnd + loadAhead > listing.entries.length)
      listing.loadMore();
  });
}

/** Moves the focus when the model asks for it, as soon as the entry is there. */
function useFocus(scroller: ListRef, { shown, columns }: ListLayout): void {
  const { wantsFocus, listing, selection } = useBrowsing().model;
  void wantsFocus.value;
  useLayoutEffect(() => {
    if (!wantsFocus.peek() || listing.entries.length === 0) return;
    wantsFocus.value = false;
    shown.scrollTo(Math.floor(selection.focusedIndex() / columns));
    scroller.current
      ?.querySelector<HTMLElement>('[data-index][tabindex="0"]')
      ?.focus({ preventScroll: true });
  });
}

/** The rows in view, and the one that has the focus. */
function Lines({ shown, columns, rowHeight }: ListLayout) {
  const { listing, selection, view } = useBrowsing().model;
  void selection.version.value;
  void listing.version.value;
  const { entries } = listing;
  const focused = selection.focusedIndex();
  const rows = Array.from({ length: shown.end - shown.first }, (_, offset) => shown.first + offset);
  // In order: an element that is moved in the page loses the focus.
  if (selection.focusedKey.value !== null) {
    const focusedRow = Math.floor(focused / columns);
    if (focusedRow < shown.first) rows.unshift(focusedRow);
    else if (focusedRow >= shown.end) rows.push(focusedRow);
  }
  const isFailed = listing.status.value === 'failed';
  const itemProps = (index: number) => {
    const entry = entries[index];
    return entry && { entry, index, isSelected: selection.has(entry.key), isRoving: index === focused };
  };
  const renderRow = (row: number) => {
    const top = row * rowHeight;
    if (isFailed && row === Math.ceil(entries.length / columns)) return <FailedLine key="failed" top={top} />;
    if (view.value === 'grid') return <TileLine key={row} {...{ row, top, columns, itemProps }} />;
    const props = itemProps(row);
    if (props) return <Row key={props.entry.key} {...props} top={top} />;
    return isFailed ? null : <SkeletonLine key={`skeleton-${row}`} top={top} />;
  };
  return <>{rows.map(renderRow)}</>;
}
