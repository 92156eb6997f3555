// Short messages at the lower edge, and the region that screen readers listen to.
import { Button, IconButton } from './button.tsx';
import { useBrowsing } from './context.ts';

export function Toasts() {
  const { model, t } = useBrowsing();
  const { toasts } = model;
  return (
    <>
      <div class="toasts" part="toasts">
        {toasts.shown.value.map(({ id, text, note, isError, action }) => (
          <div key={id} class={isError ? 'toast is-error' : 'toast'} part="toast">
            <span class="toast-text">
              {text}
              {note && <small class="mono">{note}</small>}
            </span>
            {action && <Button onPress={action.run}>{action.label}</Button>}
            <IconButton icon="close" label={t('dismiss')} onPress={() => toasts.dismiss(id)} />
          </div>
        ))}
      </div>
      <div class="unseen" role="status" aria-live="polite">
        {toasts.announced.value}
      </div>
    </>
  );
}
