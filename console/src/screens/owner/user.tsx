// One user: files, spaces, tokens and details, each with an address of its own.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link, navigate } from '../../frame/router.tsx';
import { type ScreenProps, ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Show } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { ActiveBadge, Foreign } from '../../ui/parts.tsx';
import { UserDetails } from './user-details.tsx';
import { type UserDialog, UserDialogs, userActions } from './user-dialogs.tsx';
import { UserFiles } from './user-files.tsx';
import type { UserPartProps } from './user-part.ts';
import { UserSpaces } from './user-spaces.tsx';
import { UserTokens } from './user-tokens.tsx';

const parts = {
  files: UserFiles,
  spaces: UserSpaces,
  tokens: UserTokens,
  details: UserDetails,
} as const satisfies Readonly<Record<string, ComponentType<UserPartProps>>>;

type PartName = keyof typeof parts;

export function UserScreen({ params: { userId = '', part = 'files' } }: ScreenProps) {
  const user = useLoad((signal) => client.user({ id: userId }).get({ signal }), [userId]);
  return <Show of={user}>{(loaded) => <Loaded user={loaded} part={part} onChange={user.reload} />}</Show>;
}

interface LoadedProps extends UserPartProps {
  readonly part: string;
}

function Loaded({ user, part, onChange }: LoadedProps) {
  const texts = t.owner.user;
  const open = useSignal<UserDialog | null>(null);
  const shown = (part in parts ? part : 'files') as PartName;
  const Part = parts[shown];
  return (
    <div class="stack wide">
      <div class="stack tight">
        <p class="crumb">
          <Link to="/users">{texts.back}</Link>
        </p>
        <div class="page-head">
          <div class="row">
            <ScreenTitle page={user.external_id}>
              <Foreign>{user.external_id}</Foreign>
            </ScreenTitle>
            {!user.active && <ActiveBadge active={false} />}
          </div>
          <Menu
            label={t.owner.users.actions}
            text={t.owner.users.actions}
            items={userActions(
              user,
              (next) => {
                open.value = next;
              },
              onChange,
            )}
          />
        </div>
      </div>
      <nav class="tabs" aria-label={texts.tabs}>
        {(Object.keys(parts) as PartName[]).map((name) => (
          <Link key={name} to={`/users/${user.id}/${name}`} current={name === shown}>
            {texts[name]}
          </Link>
        ))}
      </nav>
      <Part key={shown} user={user} onChange={onChange} />
      {open.value && (
        <UserDialogs
          open={open.value}
          onClose={() => {
            open.value = null;
          }}
          onChange={onChange}
          onRemoved={() => navigate('/users')}
        />
      )}
    </div>
  );
}
