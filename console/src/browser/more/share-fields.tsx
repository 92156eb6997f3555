// The fields of a link, to make one or to change one.
import type { Share } from '@pakhus/client';
import { useBrowsing } from '../context.ts';
import { Field } from './form.tsx';
import { toValues } from './share-values.ts';

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
