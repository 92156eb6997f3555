// Every text of the console, in the language of the person. Another language is another catalogue of the same shape.
import { account } from './en/account.ts';
import { admin } from './en/admin.ts';
import { audit } from './en/audit.ts';
import { events } from './en/events.ts';
import { files } from './en/files.ts';
import { frame } from './en/frame.ts';
import { owner } from './en/owner.ts';
import { ui } from './en/ui.ts';
import { variants } from './en/variants.ts';
import { webhooks } from './en/webhooks.ts';

const english = { ui, frame, account, admin, owner, audit, events, webhooks, variants, files };

export type Texts = typeof english;

/** A catalogue other than English is loaded when it is wanted: `da: async () => (await import('./da/…')).danish`. */
const catalogues: Readonly<Record<string, () => Promise<Texts>>> = {
  en: async () => english,
};

export let t: Texts = english;

/** Before the first screen is drawn. */
export async function loadTexts(wanted: readonly string[]): Promise<void> {
  const language = wanted.map((tag) => tag.split('-')[0] ?? '').find((tag) => tag in catalogues) ?? 'en';
  t = (await catalogues[language]?.()) ?? english;
  document.documentElement.lang = language;
}
