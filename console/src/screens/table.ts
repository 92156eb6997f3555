// Every screen: its address, who may see it, and where its code is.
import type { Screen } from '../frame/screens.tsx';

export const screens: readonly Screen[] = [
  { pattern: '/', for: 'project', load: async () => (await import('./owner/overview.tsx')).Overview },
  { pattern: '/users', for: 'project', load: async () => (await import('./owner/users.tsx')).Users },
  {
    pattern: '/users/:userId',
    for: 'project',
    load: async () => (await import('./owner/user.tsx')).UserScreen,
  },
  {
    pattern: '/users/:userId/:part',
    for: 'project',
    load: async () => (await import('./owner/user.tsx')).UserScreen,
  },
  { pattern: '/plans', for: 'project', load: async () => (await import('./owner/plans.tsx')).Plans },
  {
    pattern: '/variants',
    for: 'project',
    load: async () => (await import('./variants/variants.tsx')).Variants,
  },
  { pattern: '/keys', for: 'project', load: async () => (await import('./owner/keys.tsx')).Keys },
  {
    pattern: '/integrations',
    for: 'project',
    load: async () => (await import('./owner/integrations.tsx')).Integrations,
  },
  { pattern: '/events', for: 'project', load: async () => (await import('./events/events.tsx')).Events },
  {
    pattern: '/webhooks',
    for: 'project',
    load: async () => (await import('./webhooks/webhooks.tsx')).Webhooks,
  },
  {
    pattern: '/webhooks/:webhookId',
    for: 'project',
    load: async () => (await import('./webhooks/webhook.tsx')).WebhookScreen,
  },
  { pattern: '/settings', for: 'project', load: async () => (await import('./owner/settings.tsx')).Settings },
  {
    pattern: '/forgot-password',
    for: 'public',
    load: async () => (await import('./account/forgot-password.tsx')).ForgotPassword,
  },
  {
    pattern: '/reset-password',
    for: 'public',
    load: async () => (await import('./account/reset-password.tsx')).ResetPassword,
  },
  { pattern: '/account', for: 'account', load: async () => (await import('./account/account.tsx')).Account },
  { pattern: '/', for: 'admin', load: async () => (await import('./admin/overview.tsx')).Overview },
  { pattern: '/projects', for: 'admin', load: async () => (await import('./admin/projects.tsx')).Projects },
  { pattern: '/projects/:id', for: 'admin', load: async () => (await import('./admin/project.tsx')).Project },
  { pattern: '/jobs', for: 'admin', load: async () => (await import('./admin/jobs.tsx')).Jobs },
  { pattern: '/settings', for: 'admin', load: async () => (await import('./admin/settings.tsx')).Settings },
  { pattern: '/audit', for: 'admin', load: async () => (await import('./audit/audit.tsx')).Audit },
  { pattern: '/audit', for: 'project', load: async () => (await import('./audit/audit.tsx')).Audit },
];
