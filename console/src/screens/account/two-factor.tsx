// Two-factor login: whether it is on, and turning it on or off.
import { useSignal } from '@preact/signals';
import { useLoad } from '../../browser/load.ts';
import { accountClient } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Show } from '../../ui/load.tsx';
import { Badge } from '../../ui/parts.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { CodeField } from './code-field.tsx';
import { Enrolment } from './enrolment.tsx';

export function TwoFactor({ email }: { email: string }) {
  const status = useLoad((signal) => accountClient.auth.twoFactor.status({ signal }), []);
  const isOpen = useSignal(false);
  const texts = t.account;
  const finish = () => {
    isOpen.value = false;
    void status.reload();
  };
  return (
    <section class="card stack">
      <div class="row spread">
        <h2>{texts.twoFactor}</h2>
        {status.data && (
          <Badge tone={status.data.enabled ? 'good' : 'warn'}>
            {status.data.enabled ? texts.on : texts.off}
          </Badge>
        )}
      </div>
      <Show of={status}>
        {({ enabled }) => (
          <>
            <p class="soft">{enabled ? texts.twoFactorOn : texts.twoFactorOff}</p>
            <div>
              <Button
                onPress={() => {
                  isOpen.value = true;
                }}
              >
                {enabled ? texts.turnOff : texts.setUp}
              </Button>
            </div>
            {isOpen.value &&
              (enabled ? <TurnOff onClose={finish} /> : <Enrolment email={email} onClose={finish} />)}
          </>
        )}
      </Show>
    </section>
  );
}

function TurnOff({ onClose }: { onClose: () => void }) {
  const texts = t.account;
  return (
    <Dialog title={texts.turnOffTitle} onClose={onClose}>
      <p>{texts.turnOffHint}</p>
      <Form
        submit={texts.turnOff}
        kind="danger"
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async ({ code = '' }) => {
          await accountClient.auth.twoFactor.disable(code);
          showToast(texts.turnedOff);
          onClose();
        }}
      >
        {(wrong) => <CodeField wrong={wrong('code')} />}
      </Form>
    </Dialog>
  );
}
