// An image as each variant of the project shows it.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useLoad } from '../../browser/load.ts';
import { type Variant, variants } from '../../frame/delivery.ts';
import { Link } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { formatBytes, formatNumber, formatTime } from '../../ui/format.ts';
import { Show } from '../../ui/load.tsx';
import { Foreign } from '../../ui/parts.tsx';
import { CopyField } from '../../ui/secret.tsx';
import { pause } from './pause.ts';

interface PreviewProps {
  readonly userId: string;
  readonly file: ListedFile;
}

/** While an image is made, it is asked for again. */
const retryMs = 2_000;

export function VariantPreview({ onClose, ...image }: PreviewProps & { onClose: () => void }) {
  const texts = t.variants.preview;
  const all = useLoad((signal) => variants.list(signal), []);
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p>
        <strong>
          <Foreign>{image.file.name}</Foreign>
        </strong>
      </p>
      <Show of={all}>
        {([first, ...others]) =>
          first ? (
            <Chosen {...image} offered={[first, ...others]} />
          ) : (
            <p>
              {texts.none} <Link to="/variants">{texts.toVariants}</Link>
            </p>
          )
        }
      </Show>
    </Dialog>
  );
}

function Chosen({ offered, ...image }: PreviewProps & { offered: readonly Variant[] }) {
  const name = useSignal(offered[0]?.name ?? '');
  return (
    <>
      <Select
        label={t.variants.preview.choose}
        name="variant"
        value={name.value}
        options={offered.map((variant) => [variant.name, variant.name])}
        onChange={(next) => {
          name.value = next;
        }}
      />
      <Made key={name.value} {...image} name={name.value} />
    </>
  );
}

function Made({ userId, file, name }: PreviewProps & { name: string }) {
  const texts = t.variants.preview;
  const made = useLoad((signal) => waitForImage(userId, file.id, name, signal), [userId, file.id, name]);
  return (
    <Show of={made}>
      {({ url, url_expires_at, width, height, size }) => (
        <div class="stack tight">
          <img
            class="variant-image"
            src={url}
            width={width}
            height={height}
            alt={texts.alt(file.name, name)}
          />
          <p>{texts.facts(formatNumber(width), formatNumber(height), formatBytes(size))}</p>
          <span class="label">{texts.address}</span>
          <CopyField value={url} label={texts.address} />
          <p class="soft">{texts.until(formatTime(url_expires_at))}</p>
        </div>
      )}
    </Show>
  );
}

async function waitForImage(userId: string, fileId: string, name: string, signal: AbortSignal) {
  for (;;) {
    const image = await variants.image(userId, fileId, name, signal);
    if ('url' in image) return image;
    await pause(retryMs, signal);
  }
}
