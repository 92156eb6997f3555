// Turning two-factor login on: scan, enter a code, keep the recovery codes.
import { useSignal } from '@preact/signals';
import { useLoad } from '../../browser/load.ts';
import { accountClient } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Show } from '../../ui/load.tsx';
import { saveFile } from '../../ui/save.ts';
import { CopyField, copyText } from '../../ui/secret.tsx';
import { QrCode } from './qr-code.tsx';

interface EnrolmentProps {
  readonly email: string;
  readonly onClose: () => void;
}

export function Enrolment({ email, onClose }: EnrolmentProps) {
  const codes = useSignal<readonly string[] | null>(null);
  const takeCodes = (made: readonly string[]) => {
    codes.value = made;
  };
  return (
    <Dialog
      title={codes.value ? t.account.recovery : t.account.setUp}
      onClose={onClose}
      closable={codes.value === null}
    >
      {codes.value ? (
        <RecoveryCodes codes={codes.value} email={email} onClose={onClose} />
      ) : (
        <Scan onActivated={takeCodes} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface ScanProps {
  readonly onActivated: (codes: readonly string[]) => void;
  readonly onClose: () => void;
}

function Scan({ onActivated, onClose }: ScanProps) {
  const enrolled = useLoad((signal) => accountClient.auth.twoFactor.enroll({ signal }), []);
  const texts = t.account;
  return (
    <Show of={enrolled}>
      {({ otpauth_url: url, secret }) => (
        <>
          <p>{texts.scan}</p>
          <QrCode text={url} label={texts.qr} />
          <details>
            <summary>{texts.cannotScan}</summary>
            <div class="stack tight">
              <p class="soft">
                {texts.secretHint} <a href={url}>{texts.openApp}</a>
              </p>
              <CopyField value={secret} label={texts.secret} />
            </div>
          </details>
          <Form
            submit={texts.turnOn}
            cancel={{ label: t.ui.cancel, onPress: onClose }}
            onSubmit={async ({ code = '' }) =>
              onActivated((await accountClient.auth.twoFactor.activate(code)).recovery_codes)
            }
          >
            {(wrong) => (
              <Field
                label={texts.code}
                hint={texts.sixDigits}
                name="code"
                autocomplete="one-time-code"
                inputMode="numeric"
                required
                wrong={wrong('code')}
              />
            )}
          </Form>
        </>
      )}
    </Show>
  );
}

interface RecoveryCodesProps extends EnrolmentProps {
  readonly codes: readonly string[];
}

function RecoveryCodes({ codes, email, onClose }: RecoveryCodesProps) {
  const isKept = useSignal(false);
  const texts = t.account;
  const text = codes.join('\n');
  return (
    <>
      <p>{texts.recoveryHint}</p>
      <ol class="recovery-codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <div class="row">
        <Button icon="copy" onPress={() => copyText(text)}>
          {texts.copyCodes}
        </Button>
        <Button
          icon="download"
          onPress={() =>
            saveFile('pakhus-recovery-codes.txt', 'text/plain', [`${texts.recoveryFile(email)}\n\n${text}\n`])
          }
        >
          {texts.download}
        </Button>
      </div>
      <Check
        label={texts.recoveryKept}
        name="kept"
        checked={isKept.value}
        onChange={(checked) => {
          isKept.value = checked;
        }}
      />
      <div class="dialog-feet">
        <Button kind="primary" disabled={!isKept.value} onPress={onClose}>
          {t.ui.done}
        </Button>
      </div>
    </>
  );
}
