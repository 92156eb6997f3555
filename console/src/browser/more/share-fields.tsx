// The fields of a link, to make one or to change one.
import type { Share } from '@pakhus/client';
import { useBrowsing } from '../context.ts';
import type { FormValues } from '../submit.ts';
import { Field } from './form.tsx';

interface ShareFieldsProps {
  readonly wrong: (field: string) => string | undefined;
  /** The one that is changed. */
  readonly share?: Share;
}

export function ShareFields({ wrong, share }: ShareFieldsProps) {
  const { t } = useBrowsing();
  const before = share && toValues(share);
  const field = (name: string) => ({ name, value: before?.[name] ?? '', wrong: wrong(name) });
  const hint = t('optional');
  return (
    <div class="pairs">
      <Field {...field('expires_at')} label={t('shareExpires')} hint={hint} type="datetime-local" />
      <Field {...field('max_downloads')} label={t('shareMax')} hint={hint} type="number" min={1} />
      <div>
        <Field
          {...field('password')}
          label={t(share?.has_password ? 'shareNewPassword' : 'sharePassword')}
          hint={share?.has_password ? t('shareKeepPassword') : hint}
          type="password"
          maxLength={200}
        />
        {share?.has_password && (
          <label class="choice">
            <input type="checkbox" name="no_password" />
            {t('shareNoPassword')}
          </label>
        )}
      </div>
      <Field {...field('name')} label={t('shareName')} hint={hint} maxLength={255} />
    </div>
  );
}

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
const toValues = ({ expires_at, max_downloads, name }: Share): FormValues => ({
  expires_at: expires_at ? toLocal(expires_at) : '',
  max_downloads: String(max_downloads ?? ''),
  name: name ?? '',
});

/** In the person's own time, by minutes, as `datetime-local` takes it. */
export function toLocal(iso: string): string {
  const time = new Date(iso);
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
