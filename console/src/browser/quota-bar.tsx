// How much of the storage is used. What is nearly full says so in words and by a sign, not by colour alone.
// biome-ignore-all lint/a11y/useSemanticElements: a meter element has one colour
import { useBrowsing } from './context.ts';
import { Icon } from './icons.tsx';

const warnPercent = 80;

export function QuotaBar() {
  const { model, texts, t } = useBrowsing();
  const storage = model.quota.storage.value;
  if (!storage) return null;
  const { storageUsed, storageReserved, storageLimit, storageAvailable } = storage;
  const used = texts.bytes(storageUsed);
  if (storageLimit === null)
    return (
      <div class="quota" part="quota">
        <span>{t('quotaUnlimited', { used })}</span>
      </div>
    );
  const percent = (bytes: number) => (storageLimit > 0 ? Math.min(100, (bytes / storageLimit) * 100) : 100);
  const taken = percent(storageUsed + storageReserved);
  const level = (storageAvailable ?? 1) <= 0 ? 'full' : taken > warnPercent ? 'warn' : 'fine';
  const words = [
    t('quotaUsed', { used, limit: texts.bytes(storageLimit) }),
    storageReserved > 0 && t('quotaReserved', { bytes: texts.bytes(storageReserved) }),
  ].filter(Boolean);
  return (
    <div class={`quota is-${level}`} part={`quota quota-${level}`}>
      <span class="quota-text">
        {level !== 'fine' && (
          <strong>
            <Icon name="warning" />
            {t(level === 'full' ? 'quotaFull' : 'quotaNearlyFull')}
          </strong>
        )}
        <span title={t('quotaAvailable', { bytes: texts.bytes(storageAvailable ?? 0) })}>
          {words.join(' · ')}
        </span>
      </span>
      <span
        class="bar"
        role="meter"
        aria-label={t('quota')}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(taken)}
        aria-valuetext={words.join(', ')}
      >
        <span class="fill" style={{ inlineSize: `${percent(storageUsed)}%` }} />
        <span class="fill is-reserved" style={{ inlineSize: `${percent(storageReserved)}%` }} />
      </span>
    </div>
  );
}
