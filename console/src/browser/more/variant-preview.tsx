// An image as each variant of the project shows it.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { useBrowsing } from '../context.ts';
import { useLoad } from '../load.ts';
import type { MoreProps } from '../more-request.ts';
import { CopyField } from './copy-field.tsx';
import { Show } from './pages.tsx';
import { Sheet } from './sheet.tsx';

interface PreviewProps extends Omit<MoreProps, 'request'> {
  readonly file: ListedFile;
}

export function VariantPreview(props: PreviewProps) {
  const { t } = useBrowsing();
  const all = useLoad(async (signal) => {
    const { variants } = await (await props.delivery.variants()).list({ signal }).page();
    return variants.map(({ name }) => name);
  }, []);
  return (
    <Sheet title={t('variantsTitle')} subject={props.file.name} onClose={props.onClose}>
      <Show of={all}>
        {(names) => (names.length === 0 ? <p>{t('variantsNone')}</p> : <Chosen {...props} names={names} />)}
      </Show>
    </Sheet>
  );
}

function Chosen({ names, ...props }: PreviewProps & { readonly names: readonly string[] }) {
  const { t } = useBrowsing();
  const id = useId();
  const name = useSignal(names[0] ?? '');
  return (
    <>
      <div class="field">
        <label for={id}>{t('variant')}</label>
        <select
          id={id}
          value={name.value}
          onChange={(event) => {
            name.value = event.currentTarget.value;
          }}
        >
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <Made key={name.value} {...props} name={name.value} />
    </>
  );
}

function Made({ delivery, file, name }: PreviewProps & { readonly name: string }) {
  const { t, texts } = useBrowsing();
  const made = useLoad((signal) => delivery.files.variant(file.id, name, { signal }), []);
  return (
    <Show of={made}>
      {({ url, url_expires_at, width, height, size }) => (
        <>
          <img
            class="variant"
            src={url}
            width={width}
            height={height}
            alt={t('variantAlt', { name: file.name, variant: name })}
          />
          <p>{t('variantFacts', { width, height, bytes: texts.bytes(size) })}</p>
          <CopyField value={url} />
          <small>{t('variantUntil', { time: texts.dateTime(url_expires_at) })}</small>
        </>
      )}
    </Show>
  );
}
