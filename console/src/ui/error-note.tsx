// What went wrong, in the server's words, with the id that finds it in the log.
import { PakhusError } from '@pakhus/client';
import { useMemo } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { formatClock, formatTime } from './format.ts';
import { Icon } from './icons.tsx';

interface ErrorNoteProps {
  readonly error: unknown;
  readonly onRetry?: () => unknown;
}

export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const requestId = error instanceof PakhusError ? error.requestId : null;
  const againAt = useMemo(() => findTimeAgain(error), [error]);
  return (
    <div class="note danger" role="alert">
      <Icon name="warning" />
      <div class="stack tight">
        <p>{describeError(error)}</p>
        {againAt && <p>{t.ui.againAt(formatClock(againAt))}</p>}
        {requestId && (
          <p class="soft">
            {t.ui.requestId} <code class="mono">{requestId}</code>
          </p>
        )}
        {onRetry && (
          <div>
            <Button size="small" icon="refresh" onPress={onRetry}>
              {t.ui.retry}
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}

/** When a limit has passed. */
const findTimeAgain = (error: unknown): Date | null =>
  error instanceof PakhusError && error.status === 429 && error.retryAfter !== null
    ? new Date(Date.now() + error.retryAfter * 1000)
    : null;

/** One sentence. */
export function describeError(error: unknown): string {
  if (!(error instanceof PakhusError)) return error instanceof Error ? error.message : String(error);
  if (error.code === 'NETWORK_ERROR') return t.ui.offline;
  const { retain_until } = error.details;
  if (error.code === 'LOCKED' && typeof retain_until === 'string') return t.ui.held(formatTime(retain_until));
  return error.message;
}
