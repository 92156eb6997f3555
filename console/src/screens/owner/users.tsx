// The users of the project: search, create, suspend, give a plan, delete.
import type { User } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { address, Link, setQuery } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { useTypedQuery } from '../../frame/typed-query.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Check, Field } from '../../ui/field.tsx';
import { ShowPages } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { ActiveBadge, Empty, Foreign, Quota, Time } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { CreateUser, type UserDialog, UserDialogs, userActions } from './user-dialogs.tsx';

/** Percent of the quota. */
const nearQuota = 80;

export function Users() {
  const texts = t.owner.users;
  const { query } = address.value;
  const q = query.get('q') ?? '';
  const isNear = query.get('near') === '1';
  // The overview leads here with the wish to create one.
  const open = useSignal<UserDialog | 'create' | null>(query.get('create') ? 'create' : null);
  const show = (next: UserDialog | 'create' | null) => {
    open.value = next;
  };
  const users = usePages(
    async (cursor, signal) => {
      const filter = { ...(q && { q }), ...(isNear && { usage_min: nearQuota }) };
      const page = await client.users.list({ ...filter, ...startAt(cursor) }, { signal }).page();
      return { items: page.users, next_cursor: page.next_cursor };
    },
    [q, isNear],
  );
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        <Button kind="primary" icon="plus" onPress={() => show('create')}>
          {texts.create}
        </Button>
      </div>
      <Filters q={q} isNear={isNear} />
      <ShowPages of={users} empty={q || isNear ? <NoneFound /> : <NoUsers />}>
        {(items) => (
          <Table
            caption={texts.title}
            columns={columns(show, users.reload)}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ShowPages>
      {open.value === 'create' && <CreateUser onClose={() => show(null)} />}
      {open.value && open.value !== 'create' && (
        <UserDialogs open={open.value} onClose={() => show(null)} onChange={users.reload} />
      )}
    </div>
  );
}

function Filters({ q, isNear }: { q: string; isNear: boolean }) {
  const texts = t.owner.users;
  const typed = useTypedQuery(q);
  return (
    <search class="toolbar">
      <Field
        label={texts.search}
        name="q"
        type="search"
        maxLength={100}
        value={typed.value}
        onInput={(value) => {
          typed.value = value;
        }}
      />
      <Check
        label={texts.nearQuota}
        name="near"
        checked={isNear}
        onChange={(checked) => setQuery({ near: checked ? '1' : null })}
      />
    </search>
  );
}

const NoUsers = () => (
  <Empty icon="users" title={t.owner.users.empty}>
    {t.owner.users.emptyHint}
  </Empty>
);

const NoneFound = () => (
  <Empty
    icon="search"
    title={t.owner.users.noneFound}
    action={<Button onPress={() => setQuery({ q: null, near: null })}>{t.owner.users.clear}</Button>}
  >
    {t.owner.users.noneFoundHint}
  </Empty>
);

const columns = (
  onOpen: (next: UserDialog) => void,
  onChange: () => Promise<void>,
): readonly Column<User>[] => {
  const texts = t.owner.users;
  return [
    {
      title: texts.externalId,
      kind: 'head',
      cell: ({ id, external_id }) => (
        <Link to={`/users/${id}/files`}>
          <Foreign>{external_id}</Foreign>
        </Link>
      ),
    },
    {
      title: texts.plan,
      cell: ({ plan }) =>
        plan ? <Foreign>{plan.name}</Foreign> : <span class="soft">{texts.planNone}</span>,
    },
    {
      title: texts.storage,
      cell: ({ storageUsed, storageLimit, usagePercent }) => (
        <Quota used={storageUsed} limit={storageLimit} percent={usagePercent} />
      ),
    },
    { title: texts.state, cell: ({ active }) => <ActiveBadge active={active} /> },
    { title: texts.created, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (user) => (
        <Menu label={`${texts.actions}: ${user.external_id}`} items={userActions(user, onOpen, onChange)} />
      ),
    },
  ];
};
