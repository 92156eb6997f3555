// A menu of actions in a native popover, placed beside its button.
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly danger?: boolean;
  readonly onPress: () => unknown;
}

interface MenuProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly items: readonly MenuItem[];
  readonly text?: ComponentChildren;
}

export function Menu({ label, icon = 'more', items, text }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const place = () => {
    if (button.current && menu.current) placeBeside(button.current, menu.current);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button ${text ? '' : 'plain icon'} small`}
        popovertarget={id}
        aria-haspopup="true"
        aria-label={label}
        title={label}
      >
        <Icon name={icon} />
        {text}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys move between its buttons */}
      <div ref={menu} id={id} class="menu" popover="auto" onToggle={place} onKeyDown={moveFocus}>
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            class={item.danger ? 'danger' : ''}
            onClick={() => {
              menu.current?.hidePopover();
              item.onPress();
            }}
          >
            {item.icon && <Icon name={item.icon} />}
            {item.label}
          </button>
        ))}
      </div>
    </>
  );
}

/** Below the button, or above it where there is no room; never outside of the window. */
function placeBeside(button: HTMLElement, menu: HTMLElement): void {
  if (!menu.matches(':popover-open')) return;
  const at = button.getBoundingClientRect();
  const size = menu.getBoundingClientRect();
  const isBelow = at.bottom + size.height + 8 < innerHeight;
  menu.style.top = `${isBelow ? at.bottom + 4 : Math.max(8, at.top - size.height - 4)}px`;
  menu.style.left = `${Math.max(8, Math.min(at.right - size.width, innerWidth - size.width - 8))}px`;
  menu.querySelector('button')?.focus();
}

function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll('button')];
  const index = items.indexOf(document.activeElement as HTMLButtonElement);
  items.at((index + step) % items.length)?.focus();
}
