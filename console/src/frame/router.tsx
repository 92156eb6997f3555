// Addresses below /console: the path decides the screen, and every screen can be linked to.
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** Where the console is, with a slash at the end. A proxy may have put it below a path. */
export const base = `${location.pathname.replace(/\/console(\/.*)?$/, '')}/console/`;

/** The origin and path of the API. */
export const serviceUrl = `${location.origin}${base.slice(0, -'/console/'.length)}`;

interface Address {
  /** Below the base, with a leading slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const read = (): Address => ({
  path: `/${location.pathname.slice(base.length)}`,
  query: new URLSearchParams(location.search),
});

export const address = signal<Address>(read());
export const path = computed(() => address.value.path);

type Guard = (next: Address) => boolean;

/** False keeps the person here. */
let guard: Guard | null = null;

/** Asked before another address is shown, while a screen has something to lose. Returns how to end that. */
export function guardLeaving(mayLeave: Guard): () => void {
  guard = mayLeave;
  return () => {
    if (guard === mayLeave) guard = null;
  };
}

addEventListener('popstate', () => {
  const next = read();
  if (guard && !guard(next)) history.pushState(null, '', toUrl(address.value));
  else address.value = next;
});

const toUrl = ({ path: at, query }: Address): string => {
  const text = query.toString();
  return base + at.slice(1) + (text && `?${text}`);
};

/** `to` is a path below the base, with its query. */
export function navigate(to: string, { replace = false } = {}): void {
  const url = base + to.replace(/^\//, '');
  const { pathname, search } = new URL(url, location.origin);
  const next = { path: `/${pathname.slice(base.length)}`, query: new URLSearchParams(search) };
  if (guard && !guard(next)) return;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  address.value = read();
  if (!replace) scrollTo(0, 0);
}

/** Changes the query of this screen. Null removes a parameter. */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  options?: { replace?: boolean },
): void {
  const query = new URLSearchParams(address.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  navigate(path.value + (text && `?${text}`), options);
}

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly children: ComponentChildren;
  readonly current?: boolean;
  readonly onFollow?: () => void;
}

export const Link = ({ to, children, current, onFollow, ...rest }: LinkProps) => (
  <a
    {...rest}
    href={base + to.replace(/^\//, '')}
    aria-current={current ? 'page' : undefined}
    onClick={(event) => {
      // A new tab or window is the browser's own business.
      if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
        return;
      event.preventDefault();
      onFollow?.();
      navigate(to);
    }}
  >
    {children}
  </a>
);

export type Params = Readonly<Record<string, string>>;

/** The parameters of a path such as `/users/:userId`, or null if it is another one. A `*` at the end takes the rest. */
export function matchPath(pattern: string, actual: string): Params | null {
  const wanted = pattern.split('/').filter(Boolean);
  const given = actual.split('/').filter(Boolean);
  if (wanted.at(-1) !== '*' && wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    if (part === '*') {
      params.rest = given.slice(index).map(decode).join('/');
      return params;
    }
    const value = given[index];
    if (value === undefined) return null;
    if (part.startsWith(':')) params[part.slice(1)] = decode(value);
    else if (part !== value) return null;
  }
  return params;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
