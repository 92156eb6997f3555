// Chooses the screen for the address and loads its code. The table of screens comes from main.
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType, FunctionComponent } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { isolate } from '../ui/format.ts';
import { Empty, Skeleton } from '../ui/parts.tsx';
import { forgetRequests } from './code/record.ts';
import { Link, matchPath, navigate, type Params, path } from './router.tsx';
import { session } from './session.ts';

export interface ScreenProps {
  readonly params: Params;
}

export interface Screen {
  readonly pattern: string;
  /** Who may see it; `public` is for people who are not logged in. */
  readonly for: 'public' | 'account' | 'admin' | 'project';
  readonly load: () => Promise<ComponentType<ScreenProps>>;
}

interface Match {
  readonly screen: Screen;
  readonly params: Params;
}

export function findScreen(screens: readonly Screen[], at: string): Match | null {
  const role = session.value?.role;
  const matches = screens.flatMap((screen): Match[] => {
    const params = matchPath(screen.pattern, at);
    return params ? [{ screen, params }] : [];
  });
  return matches.find(({ screen }) => screen.for === role) ?? matches[0] ?? null;
}

/** Set by a change of screen, until the title of the new one is there. */
let isFocusDue = false;

/** The title of the page; the focus goes there after a change of screen, so that screen readers say it. */
export function ScreenTitle({ children, page }: { children: ComponentChildren; page?: string }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isFocusDue) title.current?.focus({ preventScroll: true });
    isFocusDue = false;
  }, []);
  useEffect(() => {
    const name = page ?? (typeof children === 'string' ? children : null);
    document.title = name ? `${name} – ${t.frame.product}` : t.frame.product;
  });
  return (
    <h1 ref={title} tabIndex={-1}>
      {children}
    </h1>
  );
}

export function CurrentScreen({ screens }: { screens: readonly Screen[] }) {
  const match = findScreen(screens, path.value);
  if (!match) return <NotFound />;
  const { screen, params } = match;
  const { value: account } = session;
  if (screen.for !== 'account' && screen.for !== 'public' && screen.for !== account?.role)
    return <NotAllowed />;
  return <Loaded key={screen.pattern} screen={screen} params={params} />;
}

let isFirst = true;

const loaded = new Map<Screen, FunctionComponent<ScreenProps> | ComponentType<ScreenProps>>();

function Loaded({ screen, params }: Match) {
  const ready = useSignal(loaded.has(screen));
  const error = useSignal<unknown>(null);
  const [crash] = useErrorBoundary();
  const load = async () => {
    error.value = null;
    try {
      loaded.set(screen, await screen.load());
      ready.value = true;
    } catch (failed) {
      error.value = failed;
    }
  };
  // Before the effects of the screen's own parts, which ask for its data and take the focus.
  useLayoutEffect(() => {
    forgetRequests();
    // The first screen leaves the focus to the browser.
    isFocusDue = !isFirst;
    isFirst = false;
    if (!ready.value) void load();
  }, []);
  if (crash) return <Crashed />;
  if (error.value) return <ErrorNote error={error.value} onRetry={load} />;
  const Component = loaded.get(screen);
  return ready.value && Component ? <Component params={params} /> : <Skeleton />;
}

export const NotFound = () => (
  <div class="stack">
    <ScreenTitle>{t.frame.notFound}</ScreenTitle>
    <p class="soft">{t.frame.notFoundHint}</p>
    <p>
      <Link to="/">{t.frame.home}</Link>
    </p>
  </div>
);

const NotAllowed = () => (
  <Empty
    icon="lock"
    title={t.frame.notAllowed}
    action={<Button onPress={() => navigate('/')}>{t.frame.home}</Button>}
  >
    {t.frame.notAllowedHint(isolate(session.value?.email ?? ''))}
  </Empty>
);

const Crashed = () => (
  <div class="note danger" role="alert">
    <div class="stack tight">
      <h1>{t.frame.failed}</h1>
      <p>{t.frame.failedHint}</p>
      <div>
        <Button onPress={() => location.reload()}>{t.frame.reload}</Button>
      </div>
    </div>
  </div>
);
