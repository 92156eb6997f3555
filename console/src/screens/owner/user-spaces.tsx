// Spaces of a user, with their passwords, scopes and limits.
import type { Space, User } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Button } from '../../ui/button.tsx';
import { formatBytes } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { ActiveBadge, Empty, Foreign, Quota } from '../../ui/parts.tsx';
import { ScopeList } from '../../ui/scopes.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { type SpaceDialog, SpaceDialogs } from './space-dialogs.tsx';
import type { UserPartProps } from './user-part.ts';

export function UserSpaces({ user }: UserPartProps) {
  const texts = t.owner.spaces;
  const open = useSignal<SpaceDialog | null>(null);
  const show = (next: SpaceDialog | null) => {
    open.value = next;
  };
  const spaces = usePages(
    async (cursor, signal) => {
      const page = await client.user(user).spaces.list(startAt(cursor), { signal }).page();
      return { items: page.spaces, next_cursor: page.next_cursor };
    },
    [user.id],
  );
  const setActive = ({ id, active }: Space) =>
    attempt(async () => {
      await client.user(user).spaces.update(id, { active: !active });
      showToast(texts.saved);
      await spaces.reload();
    });
  return (
    <div class="stack wide">
      <div class="page-head">
        <p class="soft">{texts.intro}</p>
        <Button kind="primary" icon="plus" onPress={() => show({ kind: 'create' })}>
          {texts.create}
        </Button>
      </div>
      <ShowPages of={spaces} empty={<Empty icon="spaces" title={texts.empty} />}>
        {(items) => (
          <Table
            caption={texts.title}
            columns={columns(user, show, setActive)}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ShowPages>
      {open.value && (
        <SpaceDialogs user={user} open={open.value} onClose={() => show(null)} onChange={spaces.reload} />
      )}
    </div>
  );
}

const columns = (
  user: User,
  onOpen: (next: SpaceDialog) => void,
  onSetActive: (space: Space) => unknown,
): readonly Column<Space>[] => {
  const texts = t.owner.spaces;
  return [
    {
      title: texts.name,
      kind: 'head',
      cell: ({ id, name, external_id }) => (
        <div>
          <Link to={`/users/${user.id}/files?space=${id}`}>
            <Foreign>{name}</Foreign>
          </Link>
          <div class="soft mono">
            <Foreign>{external_id}</Foreign>
          </div>
        </div>
      ),
    },
    { title: texts.storage, cell: (space) => <SpaceStorage space={space} /> },
    { title: texts.scopes, cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
    { title: texts.hasPassword, cell: ({ has_password }) => (has_password ? texts.yes : texts.no) },
    { title: texts.state, cell: ({ active }) => <ActiveBadge active={active} /> },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (space) => (
        <Menu
          label={`${texts.actions}: ${space.name}`}
          items={[
            { label: texts.edit, onPress: () => onOpen({ kind: 'edit', space }) },
            { label: texts.setPassword, onPress: () => onOpen({ kind: 'password', space }) },
            { label: space.active ? texts.suspend : texts.resume, onPress: () => onSetActive(space) },
            { label: texts.remove, danger: true, onPress: () => onOpen({ kind: 'remove', space }) },
          ]}
        />
      ),
    },
  ];
};

function SpaceStorage({ space: { used_bytes, limit_bytes } }: { space: Space }) {
  if (limit_bytes === null) return <span class="nowrap">{formatBytes(used_bytes)}</span>;
  const percent = limit_bytes === 0 ? 100 : (used_bytes / limit_bytes) * 100;
  return <Quota used={used_bytes} limit={limit_bytes} percent={percent} />;
}
