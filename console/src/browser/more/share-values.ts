// What the fields of a link say, and what has to be sent.
import type { Share } from '@pakhus/client';
import type { FormValues } from '../submit.ts';
import { toLocalTime } from '../times.ts';

export const readShare = (values: FormValues) => ({
  // The field has the person's own time, without a zone.
  expires_at: values.expires_at ? new Date(values.expires_at).toISOString() : null,
  max_downloads: values.max_downloads ? Number(values.max_downloads) : null,
  password: values.password || null,
  name: values.name?.trim() || null,
});

type ShareChange = Partial<ReturnType<typeof readShare>>;

/** Only what was changed: an expiry that has passed would be refused, and a password is never shown. */
export function readShareChange(values: FormValues, share: Share): ShareChange {
  const before = toValues(share);
  const { password, ...fields } = readShare(values);
  const changed = Object.entries(fields).filter(([name]) => (values[name] ?? '') !== before[name]);
  const isPasswordChanged = password !== null || values.no_password !== undefined;
  return {
    ...Object.fromEntries(changed),
    ...(isPasswordChanged && { password: values.no_password === undefined ? password : null }),
  };
}

/** As the form shows them. */
export const toValues = ({ expires_at, max_downloads, name }: Share): FormValues => ({
  expires_at: toLocalTime(expires_at ?? undefined),
  max_downloads: String(max_downloads ?? ''),
  name: name ?? '',
});
