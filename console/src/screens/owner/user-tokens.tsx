// Tokens of a user: minted, shown once, revoked. The server keeps no list of them.
import type { UserToken } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Time } from '../../ui/parts.tsx';
import { readScopes, ScopeFields, ScopeList } from '../../ui/scopes.tsx';
import { SecretDialog } from '../../ui/secret.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';
import type { UserPartProps } from './user-part.ts';

/** Only these mean something for a token of one user. */
const offered = ['users:read', 'files:read', 'files:write', 'files:delete', 'stats:read'] as const;

type MintedToken = Omit<UserToken, 'token'>;

export function UserTokens({ user }: UserPartProps) {
  const texts = t.owner.tokens;
  const minted = useSignal<readonly MintedToken[]>([]);
  const isMinting = useSignal(false);
  const secret = useSignal<string | null>(null);
  const revoke = async (jti: string) => {
    await client.user(user).tokens.revoke(jti);
    minted.value = minted.value.filter((token) => token.jti !== jti);
    showToast(texts.revoked);
  };
  return (
    <div class="stack wide">
      <div class="page-head">
        <p class="soft">{texts.intro}</p>
        <Button
          kind="primary"
          icon="plus"
          onPress={() => {
            isMinting.value = true;
          }}
        >
          {texts.mint}
        </Button>
      </div>
      <section class="stack">
        <h2>{texts.minted}</h2>
        <p class="soft">{texts.mintedHint}</p>
        {minted.value.length === 0 ? (
          <p>{texts.empty}</p>
        ) : (
          <Table
            caption={texts.minted}
            columns={columns((jti) => attempt(() => revoke(jti)))}
            rows={minted.value}
            keyOf={({ jti }) => jti}
          />
        )}
      </section>
      <section class="card stack">
        <h2>{texts.revokeOther}</h2>
        <Form
          submit={texts.revoke}
          kind="danger"
          onSubmit={async ({ jti = '' }, form) => {
            await revoke(jti.trim());
            form.reset();
          }}
        >
          {(wrong) => (
            <Field
              label={texts.id}
              hint={texts.revokeHint}
              name="jti"
              autocomplete="off"
              required
              wrong={wrong('jti')}
            />
          )}
        </Form>
      </section>
      {isMinting.value && (
        <MintDialog
          userId={user.id}
          onClose={() => {
            isMinting.value = false;
          }}
          onMinted={({ token, ...rest }) => {
            minted.value = [rest, ...minted.value];
            isMinting.value = false;
            secret.value = token;
          }}
        />
      )}
      {secret.value && (
        <SecretDialog
          title={texts.token}
          label={texts.token}
          value={secret.value}
          onClose={() => {
            secret.value = null;
          }}
        />
      )}
    </div>
  );
}

const columns = (onRevoke: (jti: string) => unknown): readonly Column<MintedToken>[] => {
  const texts = t.owner.tokens;
  return [
    { title: texts.id, kind: 'head', cell: ({ jti }) => <code class="mono">{jti}</code> },
    { title: texts.scopes, cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
    { title: texts.expires, cell: ({ expires_at }) => <Time at={expires_at} /> },
    {
      title: texts.actions,
      kind: 'actions',
      cell: ({ jti }) => (
        <Button size="small" onPress={() => onRevoke(jti)}>
          {texts.revoke}
        </Button>
      ),
    },
  ];
};

interface MintDialogProps {
  readonly userId: string;
  readonly onClose: () => void;
  readonly onMinted: (token: UserToken) => void;
}

const MintDialog = ({ userId, onClose, onMinted }: MintDialogProps) => (
  <Dialog title={t.owner.tokens.mintTitle} onClose={onClose}>
    <Form
      submit={t.owner.tokens.mint}
      cancel={{ label: t.ui.cancel, onPress: onClose }}
      onSubmit={async (values) =>
        onMinted(await client.user({ id: userId }).tokens.mint({ scopes: readScopes(values) }))
      }
    >
      {(wrong) => <ScopeFields offered={offered} chosen={['files:read']} wrong={wrong('scopes')} />}
    </Form>
  </Dialog>
);
