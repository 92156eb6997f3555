// Creates or edits a variant.
import type { Variant } from '@pakhus/client';
import type { FormValues } from '../../browser/submit.ts';
import { client } from '../../frame/api.ts';
import { t } from '../../texts/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { readInteger } from '../../ui/size-field.tsx';
import { showToast } from '../../ui/toasts.tsx';

interface VariantDialogProps {
  /** Null for a new one. */
  readonly variant: Variant | null;
  readonly onClose: () => void;
  readonly onSaved: () => unknown;
}

const formats = ['webp', 'avif', 'jpeg', 'png'] as const satisfies readonly Variant['format'][];

export function VariantDialog({ variant, onClose, onSaved }: VariantDialogProps) {
  const texts = t.variants;
  return (
    <Dialog title={variant ? texts.editTitle : texts.create} onClose={onClose}>
      <Form
        submit={variant ? t.ui.save : texts.create}
        cancel={{ label: t.ui.cancel, onPress: onClose }}
        onSubmit={async (values) => {
          const name = variant?.name ?? values.name?.trim() ?? '';
          const variants = await client.project.variants();
          if (variant) await variants.update(name, readFields(values));
          else await variants.create({ name, ...readFields(values) });
          showToast(variant ? texts.saved : texts.created(name));
          onClose();
          onSaved();
        }}
      >
        {(wrong) => <VariantFields variant={variant} wrong={wrong} />}
      </Form>
    </Dialog>
  );
}

interface VariantFieldsProps {
  readonly variant: Variant | null;
  readonly wrong: (field: string) => string | undefined;
}

function VariantFields({ variant, wrong }: VariantFieldsProps) {
  const texts = t.variants;
  const side = (name: 'width' | 'height') => (
    <Field
      label={texts[name]}
      hint={texts.anySide}
      name={name}
      type="number"
      min={1}
      value={String(variant?.[name] ?? '')}
      wrong={wrong(name)}
    />
  );
  return (
    <>
      {variant ? (
        <p>
          <code>{variant.name}</code>
        </p>
      ) : (
        <Field
          label={texts.name}
          hint={texts.nameHint}
          name="name"
          maxLength={40}
          autocomplete="off"
          required
          autofocus
          wrong={wrong('name')}
        />
      )}
      <div class="pair">
        {side('width')}
        {side('height')}
      </div>
      <Select
        label={texts.fit}
        name="fit"
        value={variant?.fit ?? 'inside'}
        options={Object.entries(texts.fits)}
      />
      {wrong('fit') && <p role="alert">{wrong('fit')}</p>}
      <div class="pair">
        <Select
          label={texts.format}
          name="format"
          value={variant?.format ?? 'webp'}
          options={formats.map((format) => [format, format])}
        />
        <Field
          label={texts.quality}
          hint={texts.qualityHint}
          name="quality"
          type="number"
          min={1}
          max={100}
          value={String(variant?.quality ?? '')}
          wrong={wrong('quality')}
        />
      </div>
    </>
  );
}

const readFields = (values: FormValues) => ({
  format: formats.find((format) => format === values.format) ?? 'webp',
  fit: values.fit === 'cover' ? ('cover' as const) : ('inside' as const),
  width: readInteger(values, 'width'),
  height: readInteger(values, 'height'),
  quality: readInteger(values, 'quality'),
});
