// A menu at a point of the page, in the top layer. Arrow keys move in it; Escape and a click elsewhere close it.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  readonly run: () => unknown;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly x: number;
  readonly y: number;
  readonly onClose: () => void;
}

const margin = 8;

export function Menu({ label, items, x, y, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shown = menu.current;
    if (!shown) return;
    const before = (shown.getRootNode() as Document | ShadowRoot).activeElement;
    shown.showPopover();
    const { width, height } = shown.getBoundingClientRect();
    const isRightToLeft = getComputedStyle(shown).direction === 'rtl';
    const left = isRightToLeft ? x - width : x;
    shown.style.left = `${Math.max(margin, Math.min(left, innerWidth - width - margin))}px`;
    shown.style.top = `${Math.max(margin, Math.min(y, innerHeight - height - margin))}px`;
    shown.querySelector('button')?.focus();
    return () => (before as HTMLElement | null)?.focus?.({ preventScroll: true });
  }, [x, y]);
  const move = (event: KeyboardEvent) => {
    const buttons = [...(menu.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const to = steps[event.key];
    // At once: the browser closes it some time after the key, and takes the next keys for the menu until then.
    if (event.key === 'Tab' || event.key === 'Escape') {
      event.preventDefault();
      return onClose();
    }
    if (to === undefined) return;
    event.preventDefault();
    buttons.at(to % buttons.length)?.focus();
  };
  return (
    <div
      ref={menu}
      class="menu"
      part="menu"
      role="menu"
      aria-label={label}
      popover="auto"
      onKeyDown={move}
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          part="menu-item"
          class={item.isDangerous ? 'menu-item danger' : 'menu-item'}
          onClick={() => {
            onClose();
            item.run();
          }}
        >
          {item.icon && <Icon name={item.icon} />}
          {item.label}
        </button>
      ))}
    </div>
  );
}
