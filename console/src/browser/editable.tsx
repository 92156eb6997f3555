// One field of a file: shown, or being edited. A change of somebody else in the meantime is not overwritten.
import type { FileChange, StoredFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';
import { useBrowsing } from './context.ts';
import { ErrorView } from './error-view.tsx';
import { hasCode } from './errors.ts';
import type { TextKey } from './texts.ts';

export interface FieldKind {
  readonly name: 'folder' | 'visibility' | 'tags' | 'classifier' | 'metadata' | 'expires_at' | 'retain_until';
  readonly hint?: TextKey;
  /** Shown for an empty value. */
  readonly empty?: TextKey;
  /** Shown when `parse` throws. */
  readonly invalid?: TextKey;
  readonly isCode?: boolean;
  readonly options?: readonly ('private' | 'public')[];
  readonly read: (file: StoredFile) => string;
  readonly chips?: (file: StoredFile) => readonly string[];
  /** The text is then what a field for local times has. */
  readonly time?: (file: StoredFile) => string | undefined;
  readonly parse: (text: string, file: StoredFile) => FileChange;
}

interface EditableProps {
  readonly kind: FieldKind;
  readonly file: StoredFile;
  readonly canEdit: boolean;
  readonly save: (change: FileChange) => Promise<void>;
  readonly reload: () => void;
}

export function EditableField(props: EditableProps) {
  const { kind, file, canEdit } = props;
  const { t } = useBrowsing();
  const isEditing = useSignal(false);
  const label = t(kind.name);
  return (
    <div class="editable" data-field={kind.name}>
      <div class="editable-head">
        <span class="field-name">{label}</span>
        {canEdit && !isEditing.value && (
          <IconButton
            icon="edit"
            label={t('edit', { field: label })}
            onPress={() => {
              isEditing.value = true;
            }}
          />
        )}
      </div>
      {isEditing.value ? (
        <Editor
          {...props}
          label={label}
          onClose={() => {
            isEditing.value = false;
          }}
        />
      ) : (
        <Value kind={kind} file={file} />
      )}
    </div>
  );
}

function Value({ kind, file }: Pick<EditableProps, 'kind' | 'file'>) {
  const { t, texts } = useBrowsing();
  const text = kind.read(file);
  const time = kind.time?.(file);
  if (time !== undefined) return <span>{texts.dateTime(time)}</span>;
  if (text === '') return <span class="soft">{t(kind.empty ?? 'none')}</span>;
  if (kind.options) return <span>{t(file.visibility)}</span>;
  if (kind.chips)
    return (
      <ul class="chips">
        {kind.chips(file).map((chip) => (
          <li key={chip}>
            <bdi>{chip}</bdi>
          </li>
        ))}
      </ul>
    );
  return kind.isCode ? <pre class="mono">{text}</pre> : <bdi>{text}</bdi>;
}

function Editor({
  kind,
  file,
  save,
  reload,
  label,
  onClose,
}: EditableProps & { label: string; onClose(): void }) {
  const { t, model } = useBrowsing();
  const text = useSignal(kind.read(file));
  const problem = useSignal<unknown>(null);
  const isInvalid = useSignal(false);
  const isSaving = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), []);
  const submit = async (event?: Event) => {
    event?.preventDefault();
    problem.value = null;
    isInvalid.value = false;
    let change: FileChange;
    try {
      change = kind.parse(text.peek(), file);
    } catch {
      isInvalid.value = true;
      return;
    }
    isSaving.value = true;
    try {
      await save(change);
      onClose();
    } catch (error) {
      isSaving.value = false;
      problem.value = error;
      model.abilities.learn('edit', error);
    }
  };
  const input = {
    value: text.value,
    'aria-label': label,
    onInput: (event: Event) => {
      text.value = (event.currentTarget as HTMLInputElement).value;
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      onClose();
    },
  };
  return (
    <form ref={form} class="editor" onSubmit={submit}>
      {kind.options ? (
        <select {...input}>
          {kind.options.map((option) => (
            <option key={option} value={option}>
              {t(option)}
            </option>
          ))}
        </select>
      ) : kind.isCode ? (
        <textarea {...input} class="mono" rows={7} spellcheck={false} />
      ) : (
        <input {...input} type={kind.time ? 'datetime-local' : 'text'} dir="auto" autoComplete="off" />
      )}
      {kind.hint && <small>{t(kind.hint)}</small>}
      {isInvalid.value && kind.invalid && (
        <p role="alert" class="wrong">
          {t(kind.invalid)}
        </p>
      )}
      {problem.value !== null && <Problem error={problem.value} reload={reload} onClose={onClose} />}
      <div class="dialog-buttons">
        <Button onPress={onClose}>{t('cancel')}</Button>
        <Button kind="primary" isSubmit isDisabled={isSaving.value}>
          {t('save')}
        </Button>
      </div>
    </form>
  );
}

interface ProblemProps {
  readonly error: unknown;
  readonly reload: () => void;
  readonly onClose: () => void;
}

function Problem({ error, reload, onClose }: ProblemProps) {
  const { t } = useBrowsing();
  if (!hasCode(error, 'PRECONDITION_FAILED')) return <ErrorView error={error} />;
  return (
    <div class="notice is-error" role="alert">
      <span class="notice-text">{t('changedMeanwhile')}</span>
      <Button
        onPress={() => {
          reload();
          onClose();
        }}
      >
        {t('loadNewest')}
      </Button>
    </div>
  );
}
