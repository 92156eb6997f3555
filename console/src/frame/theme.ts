// Light or dark: as the system says, unless the person has chosen.
import { effect, signal } from '@preact/signals';
import { recall, remember } from '../browser/memory.ts';

export type Theme = 'system' | 'light' | 'dark';

const key = 'pakhus.theme';

export const theme = signal<Theme>(readTheme());

function readTheme(): Theme {
  const stored = recall(key);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset.theme;
  else dataset.theme = theme.value;
  remember(key, theme.value);
});
