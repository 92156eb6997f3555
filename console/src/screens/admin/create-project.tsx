// Creates a project, and shows its key once with what to do next.
import { useSignal } from '@preact/signals';
import { client } from '../../frame/api.ts';
import { serviceUrl } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { isolate } from '../../ui/format.ts';
import { copyText, SecretDialog } from '../../ui/secret.tsx';
import { generatePassword } from './generate-password.ts';

interface CreateProjectProps {
  readonly onCreated: () => unknown;
  readonly onClose: () => void;
}

type Created = Awaited<ReturnType<typeof client.admin.projects.create>>;

export function CreateProject({ onCreated, onClose }: CreateProjectProps) {
  const created = useSignal<Created | null>(null);
  const texts = t.admin.projects;
  if (created.value) return <CreatedDialog created={created.value} onClose={onClose} />;
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form
        submit={texts.submit}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async ({ name = '', email = '', password = '' }) => {
          created.value = await client.admin.projects.create({ name, email, password });
          onCreated();
        }}
      >
        {(wrong) => (
          <>
            <Field
              label={texts.name}
              hint={texts.nameHint}
              name="name"
              maxLength={255}
              autocomplete="off"
              required
              autofocus
              wrong={wrong('name')}
            />
            <Field
              label={texts.email}
              hint={texts.emailHint}
              name="email"
              type="email"
              autocomplete="off"
              required
              wrong={wrong('email')}
            />
            <OwnerPassword wrong={wrong('password')} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** A generated password is readable, so that it can be handed over; a typed one is not. */
function OwnerPassword({ wrong }: { wrong: string | undefined }) {
  const password = useSignal('');
  const isGenerated = useSignal(false);
  const texts = t.admin.projects;
  return (
    <div class="stack tight">
      <Field
        label={texts.password}
        hint={isGenerated.value ? texts.generated : texts.passwordHint}
        name="password"
        type={isGenerated.value ? 'text' : 'password'}
        value={password.value}
        onInput={(value) => {
          password.value = value;
          isGenerated.value &&= value !== '';
        }}
        autocomplete="new-password"
        minLength={8}
        required
        wrong={wrong}
      />
      <div class="row">
        <Button
          size="small"
          onPress={() => {
            password.value = generatePassword();
            isGenerated.value = true;
          }}
        >
          {texts.generate}
        </Button>
        {isGenerated.value && (
          <Button size="small" icon="copy" onPress={() => copyText(password.value)}>
            {texts.copyPassword}
          </Button>
        )}
      </div>
    </div>
  );
}

function CreatedDialog({ created, onClose }: { created: Created; onClose: () => void }) {
  const texts = t.admin.projects;
  const { project, api_key: key } = created;
  const maskedKey = `${key.slice(0, 8)}…`;
  return (
    <SecretDialog title={texts.ready(isolate(project.name))} label={texts.key} value={key} onClose={onClose}>
      <p class="soft">{texts.keyHint}</p>
      <section class="stack tight">
        <h3>{texts.nextTitle}</h3>
        <p class="breakable">{texts.nextOwner(isolate(project.email))}</p>
        <p>{texts.nextServer}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard as well */}
        <pre class="command" tabIndex={0}>
          {`curl ${serviceUrl}/api/v1/project/users \\\n  -H "Authorization: Bearer ${maskedKey}" \\\n  --json '{"externalId": "customer-42"}'`}
        </pre>
      </section>
    </SecretDialog>
  );
}
