// Buttons. While `onPress` works, the button says so and does not start it again.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icons.tsx';

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly kind?: 'normal' | 'primary' | 'danger' | 'plain';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  /** Of a button with an icon alone. */
  readonly label?: string;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  readonly busy?: boolean;
  readonly onPress?: () => unknown;
  /** Shows the popover with this id. */
  readonly opens?: string;
}

export function Button({ kind = 'normal', size = 'normal', type = 'button', ...props }: ButtonProps) {
  const isWorking = useSignal(false);
  const isBusy = props.busy || isWorking.value;
  const press = async () => {
    if (isBusy || props.disabled) return;
    isWorking.value = true;
    try {
      await props.onPress?.();
    } finally {
      isWorking.value = false;
    }
  };
  const isIconOnly = props.icon !== undefined && props.children === undefined;
  return (
    <button
      type={type}
      class={['button', kind, size, isIconOnly ? 'icon' : ''].join(' ')}
      // Disabled for real only from outside: a button that works keeps the focus.
      disabled={props.disabled}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      aria-label={props.label}
      title={props.label}
      popovertarget={props.opens}
      onClick={type === 'submit' && !props.onPress ? undefined : press}
    >
      {props.icon && <Icon name={props.icon} />}
      {props.children}
    </button>
  );
}
