// One entry: a row of the list, or a tile of the grid.
// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out rows that are not in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus moves by row or tile, not by cell
import type { ListedFile } from '@pakhus/client';
import { useLayoutEffect } from 'preact/hooks';
import { useBrowsing } from './context.ts';
import { Icon } from './icons.tsx';
import { kindOf } from './kinds.ts';
import { type Entry, fileOf } from './state/entries.ts';
import { hasThumbnail } from './state/thumbnails.ts';

export interface ItemProps {
  readonly entry: Entry;
  readonly index: number;
  readonly isSelected: boolean;
  /** Whether Tab leads to it. */
  readonly isRoving: boolean;
}

const nameOf = (entry: Entry): string => (entry.kind === 'folder' ? entry.name : entry.file.name);

const Check = ({ entry }: { readonly entry: Entry }) => (
  <span class="check" data-check={entry.kind === 'file'} aria-hidden="true">
    {entry.kind === 'file' && (
      <span class="box">
        <Icon name="check" />
      </span>
    )}
  </span>
);

const KindSign = ({ entry }: { readonly entry: Entry }) => {
  const kind = entry.kind === 'folder' ? 'folder' : kindOf(entry.file.mimeType);
  return (
    <span class={`symbol kind-${kind}`}>
      <Icon name={kind} />
    </span>
  );
};

function More({ entry }: { readonly entry: Entry }) {
  const { t } = useBrowsing();
  if (entry.kind === 'folder') return null;
  return (
    <button
      type="button"
      class="icon-button"
      part="button icon-button"
      tabIndex={-1}
      data-more
      aria-haspopup="menu"
      aria-label={t('moreActions', { name: entry.file.name })}
    >
      <Icon name="more" />
    </button>
  );
}

export function Row({ entry, index, isSelected, isRoving, top }: ItemProps & { readonly top: number }) {
  const { texts } = useBrowsing();
  const file = fileOf(entry);
  return (
    <div
      role="row"
      class={isSelected ? 'row is-selected' : 'row'}
      part={isSelected ? 'row selected-row' : 'row'}
      aria-rowindex={index + 2}
      aria-selected={file ? isSelected : undefined}
      tabIndex={isRoving ? 0 : -1}
      data-index={index}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="gridcell" class="cell-check">
        <Check entry={entry} />
      </span>
      <span role="gridcell" class="cell-name">
        <KindSign entry={entry} />
        <bdi class="label" data-open title={nameOf(entry)}>
          {nameOf(entry)}
        </bdi>
        {file && (
          <small class="under-name">
            {texts.bytes(file.size)} · {texts.date(file.created_at)}
          </small>
        )}
      </span>
      <span role="gridcell" class="cell-size">
        {file && texts.bytes(file.size)}
      </span>
      <span role="gridcell" class="cell-date">
        {file && texts.date(file.created_at)}
      </span>
      <span role="gridcell" class="cell-more">
        <More entry={entry} />
      </span>
    </div>
  );
}

export function Tile({ entry, index, isSelected, isRoving }: ItemProps) {
  const { texts } = useBrowsing();
  const file = fileOf(entry);
  return (
    <div
      role="gridcell"
      class={isSelected ? 'tile is-selected' : 'tile'}
      part={isSelected ? 'tile selected-tile' : 'tile'}
      aria-selected={file ? isSelected : undefined}
      tabIndex={isRoving ? 0 : -1}
      data-index={index}
    >
      <div class="picture" data-open>
        {file && hasThumbnail(file) ? <Thumbnail file={file} entry={entry} /> : <KindSign entry={entry} />}
      </div>
      <Check entry={entry} />
      <div class="caption">
        <bdi class="label" data-open title={nameOf(entry)}>
          {nameOf(entry)}
        </bdi>
        <small>{file && texts.bytes(file.size)}</small>
        <More entry={entry} />
      </div>
    </div>
  );
}

function Thumbnail({ file, entry }: { readonly file: ListedFile; readonly entry: Entry }) {
  const { thumbnails } = useBrowsing().model;
  useLayoutEffect(() => thumbnails.show(file), [file.id]);
  const url = thumbnails.of(file).value;
  return url ? (
    <img src={url} alt="" loading="lazy" decoding="async" draggable={false} />
  ) : (
    <KindSign entry={entry} />
  );
}
