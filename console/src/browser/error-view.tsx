// An error with the server's message, the id of the request and a way on.
import { Button } from './button.tsx';
import { useBrowsing } from './context.ts';
import { describeError } from './errors.ts';
import { Icon } from './icons.tsx';

interface ErrorViewProps {
  readonly title?: string;
  readonly error: unknown;
  readonly onRetry?: () => void;
}

export function ErrorView({ title, error, onRetry }: ErrorViewProps) {
  const { texts, t } = useBrowsing();
  const { text, note } = describeError(error, texts);
  return (
    <div class="notice is-error" role="alert" part="error">
      <Icon name="warning" />
      <div class="notice-text">
        {title && <strong>{title}</strong>}
        <span>{text}</span>
        {note && <small class="mono">{note}</small>}
      </div>
      {onRetry && (
        <Button icon="retry" onPress={onRetry}>
          {t('retry')}
        </Button>
      )}
    </div>
  );
}
