// What stands around every screen of a logged-in person: navigation, account, theme and the drawer "as code".
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Menu } from '../ui/menu.tsx';
import { Foreign } from '../ui/parts.tsx';
import { CodeDrawer } from './code/drawer.tsx';
import { logOut } from './log-out.ts';
import { Link, navigate, path, serviceUrl } from './router.tsx';
import { session } from './session.ts';
import { type Theme, theme } from './theme.ts';

type Entry = readonly [to: string, icon: IconName, name: keyof typeof t.frame];

const entries: Readonly<Record<'admin' | 'project', readonly Entry[]>> = {
  admin: [
    ['/', 'overview', 'overview'],
    ['/projects', 'projects', 'projects'],
    ['/jobs', 'jobs', 'jobs'],
    ['/audit', 'audit', 'audit'],
    ['/settings', 'settings', 'settings'],
  ],
  project: [
    ['/', 'overview', 'overview'],
    ['/users', 'users', 'users'],
    ['/plans', 'plans', 'plans'],
    ['/variants', 'variants', 'variants'],
    ['/keys', 'keys', 'keys'],
    ['/integrations', 'integrations', 'integrations'],
    ['/events', 'events', 'events'],
    ['/webhooks', 'webhooks', 'webhooks'],
    ['/audit', 'audit', 'audit'],
    ['/settings', 'settings', 'settings'],
  ],
};

const isCodeOpen = signal(false);
const isMenuOpen = signal(false);

export function Layout({ children }: { children: ComponentChildren }) {
  return (
    <div class={`layout ${isCodeOpen.value ? 'with-drawer' : ''}`}>
      <a class="skip" href="#content">
        {t.frame.skip}
      </a>
      <Header />
      <nav
        class={`sidebar ${isMenuOpen.value ? 'open' : ''}`}
        id="navigation"
        aria-label={t.frame.navigation}
      >
        <Navigation />
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {isCodeOpen.value && (
        <CodeDrawer
          onClose={() => {
            isCodeOpen.value = false;
          }}
        />
      )}
    </div>
  );
}

function Navigation() {
  const role = session.value?.role ?? 'project';
  const here = path.value;
  return (
    <ul>
      {entries[role].map(([to, icon, name]) => (
        <li key={to}>
          <Link
            to={to}
            current={to === '/' ? here === '/' : here === to || here.startsWith(`${to}/`)}
            onFollow={() => {
              isMenuOpen.value = false;
            }}
          >
            <Icon name={icon} />
            {t.frame[name] as string}
          </Link>
        </li>
      ))}
      <li class="apart">
        <a href={`${serviceUrl}/api/v1/reference`}>
          <Icon name="code" />
          {t.frame.reference}
        </a>
      </li>
    </ul>
  );
}

function Header() {
  const account = session.value;
  return (
    <header class="top">
      <button
        type="button"
        class="button plain icon menu-button"
        aria-label={t.frame.menu}
        aria-expanded={isMenuOpen.value}
        aria-controls="navigation"
        onClick={() => {
          isMenuOpen.value = !isMenuOpen.value;
        }}
      >
        <Icon name={isMenuOpen.value ? 'close' : 'menu'} />
      </button>
      <Link to="/" class="brand">
        <Mark />
        <span>{t.frame.product}</span>
      </Link>
      <span class="tenant">
        <Foreign>{account?.role === 'admin' ? t.frame.admin : account?.name}</Foreign>
      </span>
      <span class="grow" />
      <Button
        kind="plain"
        size="small"
        icon="code"
        onPress={() => {
          isCodeOpen.value = !isCodeOpen.value;
        }}
      >
        <span class="wide-only">{t.frame.code.open}</span>
        <span class="unseen narrow-only">{t.frame.code.open}</span>
      </Button>
      <ThemeMenu />
      <AccountMenu />
    </header>
  );
}

export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="currentColor" />
    <path d="M6 26V13l10-7 10 7v13h-5v-9H11v9zM13 20h6v2h-6zm0 4h6v2h-6z" class="mark-house" />
  </svg>
);

export function ThemeMenu() {
  const choose = (value: Theme) => () => {
    theme.value = value;
  };
  return (
    <Menu
      label={t.frame.theme}
      icon={theme.value === 'dark' ? 'moon' : 'sun'}
      items={[
        { label: t.frame.themeSystem, onPress: choose('system') },
        { label: t.frame.themeLight, onPress: choose('light') },
        { label: t.frame.themeDark, onPress: choose('dark') },
      ]}
    />
  );
}

const AccountMenu = () => (
  <Menu
    label={t.frame.account}
    icon="account"
    items={[
      {
        label: session.value?.email ?? t.frame.account,
        icon: 'account',
        onPress: () => navigate('/account'),
      },
      { label: t.frame.logOut, icon: 'logout', onPress: () => logOut() },
    ]}
  />
);
