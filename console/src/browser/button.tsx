// Buttons: with a label, or an icon whose label is read out and shown on hover.
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icons.tsx';

interface ButtonProps {
  readonly icon?: IconName;
  readonly kind?: 'primary' | 'danger' | 'plain';
  readonly isSubmit?: boolean;
  readonly isDisabled?: boolean;
  readonly onPress?: (event: MouseEvent) => void;
  readonly part?: string;
  readonly children: ComponentChildren;
}

export const Button = ({
  icon,
  kind = 'plain',
  isSubmit,
  isDisabled,
  onPress,
  part,
  children,
}: ButtonProps) => (
  <button
    type={isSubmit ? 'submit' : 'button'}
    class={`button ${kind}`}
    disabled={isDisabled}
    onClick={onPress}
    part={part ?? `button ${kind}-button`}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onPress: (event: MouseEvent) => void;
  readonly isPressed?: boolean;
  readonly isDisabled?: boolean;
  readonly expanded?: boolean;
}

export const IconButton = ({ icon, label, onPress, isPressed, isDisabled, expanded }: IconButtonProps) => (
  <button
    type="button"
    class="icon-button"
    part="button icon-button"
    aria-label={label}
    title={label}
    aria-pressed={isPressed}
    aria-expanded={expanded}
    disabled={isDisabled}
    onClick={onPress}
  >
    <Icon name={icon} />
  </button>
);
