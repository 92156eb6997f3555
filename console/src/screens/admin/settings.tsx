// Settings of the installation.
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Show } from '../../ui/load.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { toMilliseconds } from './milliseconds.ts';

export const Settings = () => (
  <div class="stack wide">
    <div class="page-head">
      <ScreenTitle>{t.admin.settings.title}</ScreenTitle>
    </div>
    <p class="soft">{t.admin.settings.hint}</p>
    <div class="columns">
      <Retention />
      <RateLimit />
    </div>
  </div>
);

function Retention() {
  const loaded = useLoad((signal) => client.admin.settings.getAuditRetention({ signal }), []);
  const texts = t.admin.settings;
  return (
    <section class="card stack">
      <h2>{texts.retention}</h2>
      <p class="soft">{texts.retentionHint}</p>
      <Show of={loaded}>
        {({ retention_days: days }) => (
          <Form
            submit={texts.save}
            onSubmit={async ({ retention_days = '' }) => {
              await client.admin.settings.setAuditRetention({ retention_days: Number(retention_days) });
              showToast(texts.saved);
              await loaded.reload();
            }}
          >
            {(wrong) => (
              <Field
                label={texts.retentionDays}
                hint={texts.retentionBounds}
                name="retention_days"
                type="number"
                min={1}
                max={3650}
                required
                value={String(days)}
                wrong={wrong('retention_days')}
              />
            )}
          </Form>
        )}
      </Show>
    </section>
  );
}

function RateLimit() {
  const loaded = useLoad((signal) => client.admin.settings.getRateLimit({ signal }), []);
  const texts = t.admin.settings;
  return (
    <section class="card stack">
      <h2>{texts.rate}</h2>
      <p class="soft">{texts.rateHint}</p>
      <Show of={loaded}>
        {(rate) => (
          <Form
            submit={texts.save}
            onSubmit={async ({ max = '', window_ms = '' }) => {
              await client.admin.settings.setRateLimit({
                max: Number(max),
                window_ms: toMilliseconds(window_ms),
              });
              showToast(texts.saved);
              await loaded.reload();
            }}
          >
            {(wrong) => (
              <>
                <Field
                  label={texts.rateMax}
                  hint={texts.rateMaxBounds}
                  name="max"
                  type="number"
                  min={1}
                  required
                  value={String(rate.max)}
                  wrong={wrong('max')}
                />
                <Field
                  label={texts.rateWindow}
                  hint={texts.rateWindowBounds}
                  name="window_ms"
                  type="number"
                  min={1}
                  step="any"
                  required
                  value={String(rate.window_ms / 1000)}
                  wrong={wrong('window_ms')}
                />
              </>
            )}
          </Form>
        )}
      </Show>
    </section>
  );
}
