// Small pieces that many screens use.
import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.ts';
import { formatBytes, formatPercent, formatRelative, formatTime } from './format.ts';
import { Icon, type IconName } from './icons.tsx';

export const Time = ({ at }: { at: string | null }) =>
  at ? (
    <time dateTime={at} title={formatTime(at)}>
      {formatRelative(at)}
    </time>
  ) : (
    <span class="soft">{t.ui.never}</span>
  );

type Tone = 'plain' | 'good' | 'warn' | 'danger';

export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

export const ActiveBadge = ({ active }: { active: boolean }) => (
  <Badge tone={active ? 'good' : 'warn'}>{active ? t.ui.active : t.ui.suspended}</Badge>
);

/** Characters that change the direction of text: with them, `gpj.exe` can look like `exe.jpg`. */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from strangers. Isolates its direction from the text around it, and makes direction marks visible. */
export const Foreign = ({ children }: { children: ComponentChildren }) => (
  <bdi>{typeof children === 'string' ? children.replaceAll(directionMarks, '\ufffd') : children}</bdi>
);

/** In words, if the console knows them, with the name that the API uses. */
export const ApiName = ({ name, words }: { name: string; words: string | undefined }) => (
  <span class="api-name">
    {words} <code>{name}</code>
  </span>
);

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}

/** Says what to do next. */
export const Empty = ({ icon, title, children, action }: EmptyProps) => (
  <div class="empty">
    <Icon name={icon} />
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
);

export const Figure = ({ label, value, note }: { label: string; value: string; note?: string }) => (
  <dl class="card figure">
    <dt>{label}</dt>
    <dd>
      {value} {note && <span class="soft">{note}</span>}
    </dd>
  </dl>
);

interface QuotaProps {
  readonly used: number;
  readonly limit: number | null;
  readonly percent: number;
}

export function Quota({ used, limit, percent }: QuotaProps) {
  if (limit === null) return <span>{t.ui.usedUnlimited(formatBytes(used))}</span>;
  const tone = percent >= 100 ? 'danger' : percent >= 80 ? 'warn' : '';
  return (
    <div class={`meter ${tone}`}>
      <div class="track" aria-hidden="true">
        <div class="fill" style={{ inlineSize: `${Math.min(percent, 100)}%` }} />
      </div>
      <span class="caption">
        {t.ui.usedOf(formatBytes(used), formatBytes(limit))} · {formatPercent(percent)}
      </span>
    </div>
  );
}

export const Skeleton = ({ lines = 4 }: { lines?: number }) => (
  <div class="stack" aria-busy="true" aria-label={t.ui.loading} role="status">
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} class="skeleton" style={{ inlineSize: `${90 - ((index * 17) % 40)}%` }} />
    ))}
  </div>
);
