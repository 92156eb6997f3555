// What is done to a space: created, changed, given a password, deleted.
import type { Space, User } from '@pakhus/client';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Foreign } from '../../ui/parts.tsx';
import { readScopes, ScopeFields } from '../../ui/scopes.tsx';
import { readSize, SizeField } from '../../ui/size-field.tsx';
import { showToast } from '../../ui/toasts.tsx';

export type SpaceDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit' | 'password' | 'remove'; readonly space: Space };

/** Only these mean something inside a space. */
const offered = ['users:read', 'files:read', 'files:write', 'files:delete', 'stats:read'] as const;

interface SpaceDialogsProps {
  readonly user: User;
  readonly open: SpaceDialog;
  readonly onClose: () => void;
  readonly onChange: () => unknown;
}

export function SpaceDialogs({ open, ...rest }: SpaceDialogsProps) {
  if (open.kind === 'create') return <SpaceForm {...rest} space={null} />;
  if (open.kind === 'edit') return <SpaceForm {...rest} space={open.space} />;
  if (open.kind === 'password') return <PasswordForm {...rest} space={open.space} />;
  return <RemoveSpace {...rest} space={open.space} />;
}

interface SpaceFormProps {
  readonly user: User;
  /** Null for a new one. */
  readonly space: Space | null;
  readonly onClose: () => void;
  readonly onChange: () => unknown;
}

function SpaceForm({ user, space, onClose, onChange }: SpaceFormProps) {
  const texts = t.owner.spaces;
  return (
    <Dialog title={space ? texts.edit : texts.create} onClose={onClose}>
      <Form
        submit={space ? t.ui.save : texts.create}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async (values) => {
          const { name = '', external_id = '', password } = values;
          const body = { name, scopes: readScopes(values), limit_bytes: readSize(values, 'limit_bytes') };
          const { spaces } = client.user(user);
          if (space) await spaces.update(space.id, body);
          else await spaces.create({ ...body, external_id, ...(password && { password }) });
          showToast(space ? texts.saved : texts.created(name));
          onClose();
          onChange();
        }}
      >
        {(wrong) => <SpaceFields space={space} wrong={wrong} />}
      </Form>
    </Dialog>
  );
}

interface SpaceFieldsProps {
  readonly space: Space | null;
  readonly wrong: (field: string) => string | undefined;
}

function SpaceFields({ space, wrong }: SpaceFieldsProps) {
  const texts = t.owner.spaces;
  return (
    <>
      <Field
        label={texts.name}
        name="name"
        value={space?.name ?? ''}
        required
        autofocus
        wrong={wrong('name')}
      />
      {!space && (
        <>
          <Field
            label={texts.externalId}
            hint={texts.externalIdHint}
            name="external_id"
            autocomplete="off"
            required
            wrong={wrong('external_id')}
          />
          <Field
            label={texts.password}
            hint={texts.passwordHint}
            name="password"
            type="password"
            autocomplete="new-password"
            minLength={4}
            wrong={wrong('password')}
          />
        </>
      )}
      <SizeField
        label={texts.limit}
        hint={texts.limitHint}
        name="limit_bytes"
        bytes={space?.limit_bytes ?? null}
        wrong={wrong('limit_bytes')}
      />
      <ScopeFields
        offered={offered}
        chosen={space?.scopes ?? ['files:read', 'files:write']}
        wrong={wrong('scopes')}
      />
    </>
  );
}

interface OneSpaceProps {
  readonly user: User;
  readonly space: Space;
  readonly onClose: () => void;
  readonly onChange: () => unknown;
}

function PasswordForm({ user, space, onClose, onChange }: OneSpaceProps) {
  const texts = t.owner.spaces;
  return (
    <Dialog title={texts.setPassword} onClose={onClose}>
      <p>
        <strong>
          <Foreign>{space.name}</Foreign>
        </strong>
      </p>
      <Form
        submit={texts.setPassword}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async ({ password = '' }) => {
          await client.user(user).spaces.setPassword(space.id, password);
          showToast(texts.passwordSet);
          onClose();
          onChange();
        }}
      >
        {(wrong) => (
          <Field
            label={texts.password}
            hint={texts.passwordNote}
            name="password"
            type="password"
            autocomplete="new-password"
            minLength={4}
            required
            autofocus
            wrong={wrong('password')}
          />
        )}
      </Form>
    </Dialog>
  );
}

function RemoveSpace({ user, space, onClose, onChange }: OneSpaceProps) {
  const texts = t.owner.spaces;
  return (
    <Confirm
      title={texts.removeTitle}
      action={texts.remove}
      onClose={onClose}
      onConfirm={async () => {
        await client.user(user).spaces.delete(space.id);
        showToast(texts.removed(space.name));
        onChange();
      }}
    >
      <p>
        <strong>
          <Foreign>{space.name}</Foreign>
        </strong>
      </p>
      <p>{texts.removeHint}</p>
    </Confirm>
  );
}
