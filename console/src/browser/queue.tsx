// The uploads: a summary, and below it each file with its progress. Only the rows in view are in the page.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';
import { useBrowsing } from './context.ts';
import { describeError } from './errors.ts';
import { Icon } from './icons.tsx';
import { useRows } from './rows.ts';
import type { Totals, UploadItem } from './state/upload-item.ts';

const rowHeight = 64;
const rowsShown = 4;

export function Queue() {
  const { model, t } = useBrowsing();
  const isOpen = useSignal(true);
  const totals = model.uploads.totals.value;
  if (totals.count === 0) return null;
  return (
    <section class="queue" part="queue" aria-label={t('uploads')}>
      <div class="queue-head">
        <Summary totals={totals} />
        <QueueTools totals={totals} />
        <IconButton
          icon={isOpen.value ? 'down' : 'up'}
          label={t(isOpen.value ? 'uploadsCollapse' : 'uploadsExpand')}
          expanded={isOpen.value}
          onPress={() => {
            isOpen.value = !isOpen.value;
          }}
        />
      </div>
      {isOpen.value && <QueueList />}
    </section>
  );
}

function Summary({ totals }: { readonly totals: Totals }) {
  const { model, texts, t } = useBrowsing();
  const { waiting, running, paused, done, failed, bytes, loaded } = totals;
  const active = waiting + running;
  const title =
    active > 0
      ? t('uploadsRunning', { count: active })
      : paused > 0
        ? t('uploadsPaused', { count: paused })
        : failed > 0
          ? t('uploadsFailed', { count: failed })
          : t('uploadsDone', { count: done });
  const rate = model.uploads.rate();
  const left = bytes - loaded;
  const notes = [
    active > 0 && rate > 0
      ? t('uploadsLeft', { bytes: texts.bytes(left), time: texts.duration(left / rate) })
      : null,
    active + paused > 0 && done > 0 ? t('uploadsDone', { count: done }) : null,
    active + paused > 0 && failed > 0 ? t('uploadsFailed', { count: failed }) : null,
  ].filter(Boolean);
  return (
    <div class="queue-summary">
      <strong>{title}</strong>
      {notes.length > 0 && <small>{notes.join(' · ')}</small>}
      {active + paused > 0 && <Progress label={title} loaded={loaded} total={bytes} />}
    </div>
  );
}

function QueueTools({ totals }: { readonly totals: Totals }) {
  const { model, t } = useBrowsing();
  const { uploads } = model;
  const { waiting, running, paused, failed, done } = totals;
  const isActive = waiting + running > 0;
  return (
    <>
      {failed > 0 && (
        <Button icon="retry" onPress={uploads.retryFailed}>
          <span class="wide">{t('retryAll')}</span>
        </Button>
      )}
      {isActive && <IconButton icon="pause" label={t('pauseAll')} onPress={uploads.pauseAll} />}
      {!isActive && paused > 0 && (
        <IconButton icon="play" label={t('resumeAll')} onPress={uploads.resumeAll} />
      )}
      {isActive || paused + failed > 0 ? (
        <IconButton icon="close" label={t('cancelAll')} onPress={uploads.cancelAll} />
      ) : (
        done > 0 && <Button onPress={uploads.clearDone}>{t('clearDone')}</Button>
      )}
    </>
  );
}

function QueueList() {
  const { model } = useBrowsing();
  const scroller = useRef<HTMLUListElement>(null);
  void model.uploads.version.value;
  const { items } = model.uploads;
  const { first, end } = useRows(scroller, () => ({ rowHeight, rows: items.length }));
  return (
    <ul
      class="queue-list"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled list must be reachable by keyboard
      tabIndex={0}
      style={{ blockSize: `${Math.min(rowsShown, items.length) * rowHeight}px` }}
    >
      <li class="canvas" aria-hidden="true" style={{ height: `${items.length * rowHeight}px` }} />
      {items.slice(first, end).map((item, offset) => (
        <QueueRow key={item.id} item={item} top={(first + offset) * rowHeight} />
      ))}
    </ul>
  );
}

function QueueRow({ item, top }: { readonly item: UploadItem; readonly top: number }) {
  const { model, texts, t } = useBrowsing();
  const { uploads } = model;
  const { status, loaded, error } = item.state.value;
  const { name, size } = item.file;
  const labelled = (action: string) => t('ofUpload', { action, name });
  return (
    <li class={`queue-row is-${status}`} style={{ transform: `translateY(${top}px)` }}>
      <div class="queue-name">
        <bdi class="label" title={name}>
          {name}
        </bdi>
        <small>
          <Status item={item} />
        </small>
        {(status === 'running' || status === 'paused') && (
          <Progress label={name} loaded={loaded} total={size} />
        )}
        {status === 'failed' && <small class="mono">{describeError(error, texts).note}</small>}
      </div>
      {(status === 'running' || status === 'waiting') && (
        <IconButton icon="pause" label={labelled(t('pause'))} onPress={() => uploads.pause(item)} />
      )}
      {status === 'paused' && (
        <IconButton icon="play" label={labelled(t('resume'))} onPress={() => uploads.resume(item)} />
      )}
      {status === 'failed' && (
        <IconButton icon="retry" label={labelled(t('retry'))} onPress={() => uploads.resume(item)} />
      )}
      {status === 'done' ? (
        <span class="done-sign">
          <Icon name="check" />
        </span>
      ) : (
        <IconButton icon="close" label={labelled(t('cancel'))} onPress={() => uploads.cancel(item)} />
      )}
    </li>
  );
}

function Status({ item }: { readonly item: UploadItem }) {
  const { texts, t } = useBrowsing();
  const { status, loaded, rate, error } = item.state.value;
  const { size } = item.file;
  if (status === 'failed') return <>{describeError(error, texts).text}</>;
  if (status === 'done') return <>{`${t('done')} · ${texts.bytes(size)}`}</>;
  if (status === 'waiting') return <>{`${t('waiting')} · ${texts.bytes(size)}`}</>;
  const parts = [
    status === 'paused' && t('paused'),
    t('progress', { loaded: texts.bytes(loaded), total: texts.bytes(size) }),
    status === 'running' && rate > 0 && t('rate', { bytes: texts.bytes(rate) }),
    status === 'running' && rate > 0 && t('timeLeft', { time: texts.duration((size - loaded) / rate) }),
  ];
  return <>{parts.filter(Boolean).join(' · ')}</>;
}

interface ProgressProps {
  readonly label: string;
  readonly loaded: number;
  readonly total: number;
}

export const Progress = ({ label, loaded, total }: ProgressProps) => {
  const percent = total > 0 ? Math.min(100, (loaded / total) * 100) : 0;
  return (
    <span
      class="bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(percent)}
    >
      <span class="fill" style={{ inlineSize: `${percent}%` }} />
    </span>
  );
};
