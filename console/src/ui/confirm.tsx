// Asks before something that cannot be taken back. With `typed`, a name has to be typed first.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.ts';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Form } from './form.tsx';
import { isolate } from './format.ts';

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
  /** False if another dialog takes its place. */
  readonly closes?: boolean;
  readonly onClose: () => void;
}

/** Without the characters that nobody sees or types. */
const toTypable = (text: string): string => text.replaceAll(/\p{Cf}/gu, '').trim();

export function Confirm({ title, children, action, typed, onConfirm, closes = true, onClose }: ConfirmProps) {
  const text = useSignal('');
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit={action}
        kind="danger"
        ready={typed === undefined || toTypable(text.value) === toTypable(typed)}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async () => {
          await onConfirm();
          if (closes) onClose();
        }}
      >
        {() => (
          <>
            <div>{children}</div>
            {typed !== undefined && (
              <Field
                label={t.ui.typeToConfirm(isolate(typed))}
                name="typed"
                value={text.value}
                autocomplete="off"
                onInput={(value) => {
                  text.value = value;
                }}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
