// Events as they come in.
import type { FeedEvent } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { address, Link, setQuery } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Check, Select } from '../../ui/field.tsx';
import { formatMoment, formatNumber } from '../../ui/format.ts';
import { ApiName, Badge, Empty, Foreign, Skeleton } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { EventDialog } from './event-dialog.tsx';
import { describeType, groupNames, typesOf } from './event-types.ts';
import { type Feed, type FeedWish, rowsMax, useFeed } from './feed.ts';
import { describeSubject } from './subject.ts';

export function Events() {
  const { query } = address.value;
  const types = query.get('types') ?? '';
  const isFromOldest = query.get('from') === 'oldest';
  const began = useRef<string>(null);
  return (
    <div class="stack wide">
      <ScreenTitle>{t.events.title}</ScreenTitle>
      <p class="soft">{t.events.intro}</p>
      <search class="toolbar" aria-label={t.events.filters}>
        <Select
          label={t.events.type}
          name="types"
          value={types}
          options={toOptions(types)}
          onChange={(value) => setQuery({ types: value })}
        />
        <Check
          label={t.events.oldest}
          hint={t.events.oldestHint}
          name="from"
          checked={isFromOldest}
          onChange={(checked) => setQuery({ from: checked ? 'oldest' : null })}
        />
      </search>
      {/* Another wish is another feed. */}
      <Following
        key={`${types} ${isFromOldest}`}
        wish={{ types: types.split(',').filter(Boolean), isFromOldest }}
        began={began}
      />
    </div>
  );
}

/** A link may name types in another way than this list: it stays as it is. */
function toOptions(chosen: string): readonly (readonly [string, string])[] {
  const known = groupNames().flatMap((group) => [
    [`${group}.*`, `${t.events.groups[group]} (${group}.*)`] as const,
    ...typesOf(group).map((type) => [type, `${describeType(type)} (${type})`] as const),
  ]);
  const isKnown = chosen === '' || known.some(([value]) => value === chosen);
  return [['', t.events.anyType], ...known, ...(isKnown ? [] : [[chosen, chosen] as const])];
}

function Following({ wish, began }: { wish: FeedWish; began: RefObject<string> }) {
  const feed = useFeed(wish, began);
  const shown = useSignal<FeedEvent | null>(null);
  const show = (event: FeedEvent | null) => {
    shown.value = event;
  };
  const { events, error } = feed;
  if (error && events === null) return <ErrorNote error={error} onRetry={feed.retry} />;
  if (events === null) return <Skeleton />;
  return (
    <div class="stack">
      <FeedState feed={feed} count={events.length} />
      {error !== null && <ErrorNote error={error} onRetry={feed.retry} />}
      {feed.pause === 'rush' && <p class="note warn">{t.events.rush(formatNumber(rowsMax))}</p>}
      {events.length === 0 ? (
        <Nothing wish={wish} />
      ) : (
        <Table caption={t.events.title} columns={columns(show)} rows={events} keyOf={({ id }) => id} />
      )}
      {shown.value && <EventDialog event={shown.value} onClose={() => show(null)} />}
    </div>
  );
}

function FeedState({ feed, count }: { feed: Feed; count: number }) {
  const texts = t.events;
  const isPaused = feed.pause !== 'none';
  return (
    <div class="row spread">
      <span class="row">
        <span role="status">
          {isPaused || feed.error ? (
            <Badge tone="warn">{texts.paused}</Badge>
          ) : feed.isLost ? (
            <Badge tone="warn">{texts.lost}</Badge>
          ) : (
            <Badge tone="good">{texts.live}</Badge>
          )}
        </span>
        {count > 0 && (
          <span class="soft">{(count < rowsMax ? texts.shown : texts.shownNewest)(formatNumber(count))}</span>
        )}
      </span>
      <Button icon={isPaused ? 'play' : 'pause'} onPress={() => feed.setPaused(!isPaused)}>
        {isPaused ? texts.goOn : texts.pause}
      </Button>
    </div>
  );
}

function Nothing({ wish: { types, isFromOldest } }: { wish: FeedWish }) {
  const texts = t.events;
  if (types.length > 0)
    return (
      <Empty
        icon="search"
        title={texts.emptyFiltered}
        action={<Button onPress={() => setQuery({ types: null })}>{texts.showAll}</Button>}
      >
        {texts.emptyFilteredHint}
      </Empty>
    );
  return (
    <Empty icon="events" title={isFromOldest ? texts.emptyOldest : texts.empty}>
      {texts.emptyHint}
    </Empty>
  );
}

const columns = (onOpen: (event: FeedEvent) => void): readonly Column<FeedEvent>[] => {
  const texts = t.events;
  return [
    {
      title: texts.type,
      kind: 'head',
      cell: ({ type }) => (
        <span class="nowrap">
          <ApiName name={type} words={describeType(type)} />
        </span>
      ),
    },
    {
      title: texts.when,
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={created_at}>
          {formatMoment(created_at)}
        </time>
      ),
    },
    {
      title: texts.about,
      cell: (event) => (
        <span class="breakable">
          <Foreign>{describeSubject(event)}</Foreign>
        </span>
      ),
    },
    { title: texts.user, cell: (event) => <UserOf event={event} /> },
    {
      title: texts.details,
      kind: 'actions',
      cell: (event) => (
        <Button size="small" onPress={() => onOpen(event)}>
          {texts.details}
        </Button>
      ),
    },
  ];
};

/** The beginning of an id tells users apart; the screen behind the link has the name. */
function UserOf({ event: { type, user_id } }: { event: FeedEvent }) {
  if (user_id === null) return <span class="soft">{t.ui.none}</span>;
  const id = (
    <code class="mono nowrap" title={user_id}>
      {user_id.slice(0, 8)}…
    </code>
  );
  return type === 'user.deleted' ? id : <Link to={`/users/${user_id}/files`}>{id}</Link>;
}
